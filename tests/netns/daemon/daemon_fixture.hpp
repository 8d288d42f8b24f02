// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/command.hpp"
#include "support/eventually.hpp"
#include "support/namespace.hpp"
#include "support/process.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace tna::test {

/// A bridge of two veth ports, p0 and p1, in a namespace that the test is in, with far0 and far1 in another
/// one; and tnad as a process beside it.
class Daemon : public ::testing::Test {
protected:
    void SetUp() override;
    void TearDown() override;

    /// Starts tnad, behind a prefix (setpriv, for instance) if one is given.
    void start(const std::vector<std::string>& prefix = {});
    /// Its exit code; -1 if the signal ended it.
    int end(int signal) { return process_->end(signal); }

    [[nodiscard]] std::string socket() const { return directory_ + "/tnad.sock"; }
    [[nodiscard]] std::string stateOf(const std::string& port) const;
    [[nodiscard]] bool accelerated() const;
    [[nodiscard]] nlohmann::json events() const;
    static bool xdpOn(const std::string& port);
    void expectForwarding();

    std::string directory_;
    std::optional<Namespace> dut_;
    std::optional<Namespace> far_;
    std::optional<NamespaceScope> scope_;
    std::optional<Process> process_;
};

} // namespace tna::test
