// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "netns/daemon/daemon_fixture.hpp"

#include <memory>

namespace tna::test {

/// IPv6 on a device, without addresses that are tried out before.
void enableIpv6(const std::string& device);

/// A router, without ports yet, with tnad, and on it one of tna's programs that are network functions.
class FunctionRouter : public Daemon {
protected:
    /// `program`: its path; `name`: what the function is called.
    FunctionRouter(std::string program, std::string name)
        : program_(std::move(program)), name_(std::move(name)) {}

    void SetUp() override;
    void TearDown() override;

    void startTnad();
    /// The function, to tnad, by this text.
    void declareAs(const std::string& text) const;
    /// Starts the program, as nobody; `options` are words of a shell.
    void launch(const std::string& options);
    /// The same, until it is connected.
    void launchAndWait(const std::string& options);
    [[nodiscard]] std::string state() const;
    /// All that the program has printed.
    [[nodiscard]] std::string said() const;

    std::unique_ptr<Process> function_;

private:
    std::string program_, name_;
};

} // namespace tna::test
