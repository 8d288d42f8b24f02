// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/command.hpp"
#include "support/eventually.hpp"
#include "support/namespace.hpp"
#include "support/process.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tna::test {

/// A host with Docker in a namespace that the test is in, as Debian has it: its own daemon, with its own
/// rules, bridge and storage. 198.51.100.1 is its address outside, where a machine has 198.51.100.2.
class Docker : public ::testing::Test {
protected:
    struct Container {
        std::string address;
        std::unique_ptr<Namespace> inside;
    };

    void SetUp() override;
    void TearDown() override;

    void startDocker();
    void stopDocker();
    /// What it says; the test fails if it fails.
    std::string docker(const std::vector<std::string>& words);
    /// A container that does nothing. Options are those of `docker run`.
    Container run(const std::string& name, const std::vector<std::string>& options = {});
    /// One that runs.
    Container running(const std::string& name);

    /// Starts tnad, and waits until all ports of containers, so many, and the host's card are accelerated.
    void accelerate(unsigned containers);
    [[nodiscard]] bool accelerated(unsigned containers) const;
    [[nodiscard]] nlohmann::json ports() const;

    /// A connection of TCP carries what it is given, both ways, and most of it takes the fast path once
    /// Linux knows it.
    void expectFast(const Namespace& clients, const Namespace& servers, const std::string& ip,
                    const std::string& knownAs = {});
    static bool reaches(const Namespace& from, const std::string& ip);

    std::string directory_;
    std::optional<Namespace> host_;
    std::optional<Namespace> outside_;
    std::optional<NamespaceScope> scope_;
    std::optional<Process> docker_;
    std::optional<Process> tnad_;
};

} // namespace tna::test
