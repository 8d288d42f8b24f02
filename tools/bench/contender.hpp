// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/traffic.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tna::bench {

/// Something that forwards between d0 and d1. start() and stop() run in the device's namespace; stop()
/// leaves plain Linux.
class Contender {
public:
    virtual ~Contender() = default;
    [[nodiscard]] virtual Result<void> start(Traffic& traffic) = 0;
    virtual void stop() = 0;
    /// Whether frames come out as a bridge or router sends them on; or just as they came in.
    [[nodiscard]] virtual bool forwards() const { return true; }
    /// Whether a machine may lack what it needs.
    [[nodiscard]] virtual bool optional() const { return false; }
    /// Frames since start() that it left to Linux; nothing for those that cannot leave any.
    [[nodiscard]] virtual Result<std::optional<std::uint64_t>> slowFrames() {
        return std::optional<std::uint64_t>{};
    }
};

/// "linux", "linux+nf" (br_netfilter's calls of the rule sets on, the kernel's default), "tna",
/// "tna-mirror" (nothing is read in place), "ceiling", "direct" (the generator and the sink alone), and
/// "tna@FILE", another daemon. What is wrong with any
/// other name, or with this one in a scenario; empty if nothing is.
[[nodiscard]] std::string problemWithContender(const std::string& name, Scenario scenario);
/// Those that are measured if nobody chooses.
[[nodiscard]] std::vector<std::string> usualContenders(Scenario scenario);
/// `tnad` is the daemon's file.
[[nodiscard]] std::unique_ptr<Contender> makeContender(const std::string& name, const std::string& tnad);

} // namespace tna::bench
