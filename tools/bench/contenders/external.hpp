// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/testbed/process.hpp"
#include "bench/testbed/temporary_folder.hpp"

#include <chrono>
#include <functional>
#include <vector>

namespace tna::bench {

/// Other people's data planes: programs from the PATH that may be missing, with their files and sockets in a
/// folder of their own, stopped while others have their turn.
class External : public Contender {
public:
    /// The programs that are needed, and the package that has them, or where else they come from.
    External(std::vector<std::string> programs, std::string source)
        : programs_(std::move(programs)), source_(std::move(source)) {}
    Result<void> available() const override;
    Result<void> start(Traffic& traffic) final;
    bool optional() const override { return true; }
    void stop() override;
    void pause() override;
    [[nodiscard]] Result<void> resume() override;
    double cpuSeconds() const override;
    std::vector<pid_t> processes() const override;

protected:
    /// Linux would forward the same frames once more, or in the place of what does not run.
    [[nodiscard]] static Result<void> removeLinuxBridge() { return runCommand("ip link delete br0"); }
    /// What is to be done until frames are forwarded; the folder is there.
    [[nodiscard]] virtual Result<void> begin(Traffic& traffic) = 0;
    /// How long it may take then until the first frames come out.
    [[nodiscard]] virtual std::chrono::seconds patience() const { return std::chrono::seconds(6); }
    [[nodiscard]] const std::string& folder() const { return folder_->path(); }
    /// Starts a program that stays.
    [[nodiscard]] Result<void> launch(const std::vector<std::string>& arguments);
    /// Until a condition holds; fails when a program ends, with its last words, or with what has been waited
    /// for.
    [[nodiscard]] Result<void> await(const std::string& what, std::chrono::seconds patience,
                                     const std::function<bool()>& condition);

private:
    /// Until frames come out whole.
    [[nodiscard]] Result<void> awaitForwarding(Traffic& traffic);
    [[nodiscard]] Result<void> allRunning();
    std::vector<std::string> programs_;
    std::string source_;
    std::optional<TemporaryFolder> folder_;
    std::vector<Process> processes_;
};

/// A program's file in the PATH; empty if there is none.
[[nodiscard]] std::string findInPath(const std::string& program);

} // namespace tna::bench
