// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/functions/steering.hpp"
#include "support/namespace.hpp"
#include "support/program.hpp"

#include <array>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <vector>

namespace tna::test {

/// A frame as rules see it.
struct Packet {
    std::optional<unsigned> vlan;
    unsigned version = 4; ///< 0: not IP
    std::array<std::uint8_t, 16> from{};
    std::array<std::uint8_t, 16> to{};
    unsigned protocol = 17;
    unsigned fromPort = 0;
    unsigned toPort = 0;
    unsigned flags = 0;
    bool fragment = false; ///< a later one
    bool options = false;  ///< in the header of IPv4
};

[[nodiscard]] Frame frameOf(const Packet& packet);

/// Steering as a program of its own, with nothing behind it.
struct SteeringAlone {
    std::unique_ptr<deploy::Steering> steering;
    UniqueFd next;
    UniqueFd program;

    [[nodiscard]] static SteeringAlone load();
    /// For frames that come in by p0.
    void use(const std::vector<functions::Rule>& rules) const;
};

class SteerTest : public ::testing::Test {
protected:
    void SetUp() override;
    void use(const std::vector<functions::Rule>& rules);
    /// The rule whose counter has grown.
    std::optional<std::size_t> foundFor(const Packet& packet);

    std::optional<Namespace> namespace_;
    std::optional<NamespaceScope> scope_;
    unsigned port_ = 0;
    SteeringAlone alone_;
    std::vector<std::uint64_t> counted_;
};

} // namespace tna::test
