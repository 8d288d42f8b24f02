// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/traffic/traffic.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tna::bench {

/// Something that forwards between d0 and d1. All but the constructor and available() run in the device's
/// namespace; stop() leaves plain Linux.
class Contender {
public:
    virtual ~Contender() = default;
    /// Says what it needs and this machine lacks.
    [[nodiscard]] virtual Result<void> available() const { return {}; }
    [[nodiscard]] virtual Result<void> start(Traffic& traffic) = 0;
    virtual void stop() = 0;
    /// Around the turns of others, which it must not take processor time from.
    virtual void pause() {}
    [[nodiscard]] virtual Result<void> resume() { return {}; }
    /// Whether frames come out as a bridge or router sends them on; or just as they came in.
    [[nodiscard]] virtual bool forwards() const { return true; }
    /// Whether real connections can go through it: both ways, between the generator's and the sink's device.
    [[nodiscard]] virtual bool connects() const { return true; }
    /// Whether a machine may lack what it needs: then the others are measured without it.
    [[nodiscard]] virtual bool optional() const { return false; }
    /// Processors that it works on by itself; 0 if it works where the generator does, and throttles it.
    [[nodiscard]] virtual unsigned cores() const { return 0; }
    /// Processor time of its own processes so far.
    [[nodiscard]] virtual double cpuSeconds() const { return 0; }
    /// Its own processes.
    [[nodiscard]] virtual std::vector<pid_t> processes() const { return {}; }
    /// Frames since start() that it left to Linux; nothing for those that cannot leave any.
    [[nodiscard]] virtual Result<std::optional<std::uint64_t>> slowFrames() {
        return std::optional<std::uint64_t>{};
    }
};

/// What is wrong with a name, or with this one in a scenario; empty if nothing is.
[[nodiscard]] std::string problemWithContender(const std::string& name, Scenario scenario);
/// The same of all of them. For a machine that is cabled to this one they are names that only it has to know.
[[nodiscard]] std::string problemWithContenders(const std::vector<std::string>& names, const Setup& setup);
/// All names, for people; each is explained by `contenderHelp()`.
[[nodiscard]] std::string contenderNames();
[[nodiscard]] std::string contenderHelp();
/// Those that are measured if nobody chooses.
[[nodiscard]] std::vector<std::string> usualContenders(Scenario scenario);
/// "all" among the names stands for all that the scenario has, installed or not.
[[nodiscard]] std::vector<std::string> expandContenders(const std::vector<std::string>& names,
                                                        Scenario scenario);
/// Those that are measured: as named, or if nobody names any, the usual ones; where there is nothing to be
/// chosen from, the traffic tools by themselves, or the machine under test as it is.
[[nodiscard]] std::vector<std::string> chooseContenders(const std::vector<std::string>& names,
                                                        std::vector<std::string> usual, const Setup& setup);
/// `tnad` is the daemon's file. The name must be one that nothing is wrong with.
[[nodiscard]] std::unique_ptr<Contender> makeContender(const std::string& name, const std::string& tnad,
                                                       const Setup& setup);

} // namespace tna::bench
