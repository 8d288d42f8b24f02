// SPDX-License-Identifier: Apache-2.0
#include "steer_fixture.hpp"

#include "deploy/custom/module_chain.hpp"
#include "support/command.hpp"

#include <net/if.h>
#include <numeric>

namespace tna::test {

namespace {
void put16(std::vector<std::uint8_t>& bytes, unsigned value) {
    bytes.push_back(static_cast<std::uint8_t>(value >> 8U));
    bytes.push_back(static_cast<std::uint8_t>(value));
}

unsigned etherTypeOf(const Packet& packet) {
    return packet.version == 4 ? 0x0800U : packet.version == 6 ? 0x86ddU : 0x0806U;
}
} // namespace

Frame frameOf(const Packet& packet) {
    std::vector<std::uint8_t> bytes(12, 2);
    if (packet.vlan) {
        put16(bytes, 0x8100);
        put16(bytes, 0x6000 | *packet.vlan); // with a priority, which is not looked at
    }
    put16(bytes, etherTypeOf(packet));
    if (packet.version == 4) {
        bytes.insert(bytes.end(), {static_cast<std::uint8_t>(packet.options ? 0x46 : 0x45), 0, 0, 60, 0, 1, 0,
                                   static_cast<std::uint8_t>(packet.fragment ? 5 : 0), 64,
                                   static_cast<std::uint8_t>(packet.protocol), 0, 0});
        bytes.insert(bytes.end(), packet.from.begin(), packet.from.begin() + 4);
        bytes.insert(bytes.end(), packet.to.begin(), packet.to.begin() + 4);
        if (packet.options)
            bytes.resize(bytes.size() + 4, 1); // that do nothing
    } else if (packet.version == 6) {
        bytes.insert(bytes.end(), {0x60, 0, 0, 0, 0, 40, static_cast<std::uint8_t>(packet.protocol), 64});
        bytes.insert(bytes.end(), packet.from.begin(), packet.from.end());
        bytes.insert(bytes.end(), packet.to.begin(), packet.to.end());
    }
    put16(bytes, packet.fromPort);
    put16(bytes, packet.toPort);
    bytes.resize(bytes.size() + 9);
    bytes.push_back(static_cast<std::uint8_t>(packet.flags));
    bytes.resize(bytes.size() + 30);
    return {bytes};
}

SteeringAlone SteeringAlone::load() {
    auto steering = deploy::Steering::load();
    auto next = deploy::makeTailCallSlot(-1);
    if (!steering || !next) {
        ADD_FAILURE() << (steering ? next.error().sentence() : steering.error().sentence());
        return {};
    }
    // What it does without them, it does with those of a pipeline.
    auto program = (*steering)->module()->instance(TNA_HOOK_INGRESS, assemble::Hook::xdp, next->get(), {});
    if (!program) {
        ADD_FAILURE() << program.error().sentence();
        return {};
    }
    return {std::move(*steering), std::move(*next), std::move(*program)};
}

void SteeringAlone::use(const std::vector<functions::Rule>& rules) const {
    const functions::Declaration declared{.name = "f", .ports = {"p0"}, .rules = rules};
    functions::Steered steered{0, &declared, std::vector<unsigned>(rules.size())};
    std::iota(steered.ruleNumbers.begin(), steered.ruleNumbers.end(), 0U);
    const auto table = functions::makeTable({&steered, 1}, {{"p0", ::if_nametoindex("p0")}});
    ASSERT_TRUE(table) << table.error().sentence();
    ASSERT_TRUE(steering->replace(*table));
    for (unsigned i = 0; i < rules.size(); i++)
        steering->forgetCounters(i);
}

void SteerTest::SetUp() {
    if (const auto why = cannotUseNamespaces(); !why.empty())
        GTEST_SKIP() << why;
    namespace_.emplace();
    scope_.emplace(namespace_->enter());
    must("ip link add p0 type veth peer name q0");
    must("ip link set p0 up");
    port_ = ::if_nametoindex("p0");
    alone_ = SteeringAlone::load();
    ASSERT_TRUE(alone_.program);
}

void SteerTest::use(const std::vector<functions::Rule>& rules) {
    alone_.use(rules);
    counted_.assign(rules.size(), 0);
}

std::optional<std::size_t> SteerTest::foundFor(const Packet& packet) {
    EXPECT_EQ(runProgram(alone_.program.get(), frameOf(packet), port_).first, XDP_PASS);
    for (unsigned i = 0; i < counted_.size(); i++)
        if (const auto now = alone_.steering->counters(i).otherwise; now != counted_[i]) {
            counted_[i] = now;
            return i;
        }
    return std::nullopt;
}

} // namespace tna::test
