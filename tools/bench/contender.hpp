// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/traffic.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tna::bench {

/// Something that forwards between d0 and d1. start() and stop() run in the device's namespace.
class Contender {
public:
    virtual ~Contender() = default;
    [[nodiscard]] virtual Result<void> start(Traffic& traffic) = 0;
    virtual void stop() = 0;
};

/// "linux", "linux+nf" (bridge-nf-call-iptables on, the kernel's default), "tna", "ceiling".
[[nodiscard]] const std::vector<std::string>& contenderNames();
[[nodiscard]] std::unique_ptr<Contender> makeContender(const std::string& name);

} // namespace tna::bench
