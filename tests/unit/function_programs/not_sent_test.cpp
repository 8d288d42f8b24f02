// SPDX-License-Identifier: Apache-2.0
// What a function's program has changed and cannot send any more, because there is no room, is counted as
// that, and not as what it would have become; and its place is free again.
#include "server.hpp"
#include "service.hpp"
#include "support/fake_function.hpp"
#include "support/packets.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tna::test {
namespace {

using nlohmann::json;
using packets::Bytes;
using packets::udpPacket;

Frame frameOf(const Bytes& packet) {
    const bool six = packet[0] >> 4U == 6;
    std::vector<std::uint8_t> bytes{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
    bytes.push_back(six ? 0x86 : 0x08);
    bytes.push_back(six ? 0xdd : 0);
    bytes.insert(bytes.end(), packet.begin(), packet.end());
    return {bytes};
}

class NotSent : public ::testing::Test {
protected:
    void SetUp() override { fakeFunction() = {}; }
    void TearDown() override { EXPECT_EQ(fakeFunction().lent, 0U) << "no place is lost"; }
};

nat64::Service translator(const std::string& then, std::size_t mtu = 1500) {
    nat64::Options options;
    options.pool = {"192.0.2.1"};
    options.then = then;
    options.json = true;
    options.mtu6 = mtu;
    auto settings = nat64::settingsOf(options);
    EXPECT_TRUE(settings) << settings.error().sentence();
    return {options, std::move(*settings), NetworkFunction{"f"}};
}

const packets::Flow question{"2001:db8::1", "64:ff9b::c633:6402", 4000, 53};
const packets::Flow answer{"198.51.100.2", "192.0.2.1", 53, 4000};

Frame ask(nat64::Service& service) {
    fakeFunction().toReceive = {frameOf(udpPacket(question))};
    EXPECT_EQ(service.serve({}), 0);
    auto& sent = fakeFunction().sent;
    EXPECT_EQ(sent.size(), 1U);
    return sent.empty() ? Frame{} : sent[0];
}

TEST_F(NotSent, OfATranslatorWhoseRingIsFull) {
    for (const auto* then : {"send", "back"}) {
        fakeFunction() = {};
        auto service = translator(then);
        fakeFunction().room = 1;
        fakeFunction().toReceive = {frameOf(udpPacket(question)), frameOf(udpPacket(question))};
        EXPECT_EQ(service.serve({}), 0);
        const auto told = json::parse(service.statistics());
        EXPECT_EQ(told["to_ipv4"], 1) << told;
        EXPECT_EQ(told["reasons"]["not-sent"], 1) << told;
        EXPECT_EQ(told["dropped"], 1) << told;
        EXPECT_EQ(fakeFunction().dropped, 1U);
    }
}

TEST_F(NotSent, OfATranslatorThatHasNoPlaceForPieces) {
    auto service = translator("send", 1280);
    const auto asked = ask(service);
    ASSERT_GT(asked.bytes.size(), 36U);
    const auto port = static_cast<std::uint16_t>(asked.bytes[34] << 8U | asked.bytes[35]);
    auto long_ = answer;
    long_.toPort = port;
    const auto packet = udpPacket(long_, Bytes(1400, 7), {.dontFragment = false});
    fakeFunction().sent.clear();
    fakeFunction().toReceive = {frameOf(packet)};
    EXPECT_EQ(service.serve({}), 0);
    EXPECT_EQ(fakeFunction().sent.size(), 2U) << "it is split";
    fakeFunction().places = 1;
    fakeFunction().toReceive = {frameOf(packet)};
    EXPECT_EQ(service.serve({}), 0);
    const auto told = json::parse(service.statistics());
    EXPECT_EQ(told["to_ipv6"], 1) << told;
    EXPECT_EQ(told["reasons"]["not-sent"], 1) << told;
}

/// What is between two versions is of no use to Linux, whatever the reason.
TEST_F(NotSent, OfATranslatorThatHasSpoiltAFrame) {
    auto service = translator("back");
    auto toNobody = question;
    toNobody.to = "64:ff9b::c000:201"; // of the pool
    fakeFunction().toReceive = {frameOf(udpPacket(toNobody))};
    EXPECT_EQ(service.serve({}), 0);
    EXPECT_TRUE(fakeFunction().givenBack.empty());
    EXPECT_EQ(fakeFunction().dropped, 1U);
    const auto told = json::parse(service.statistics());
    EXPECT_EQ(told["reasons"]["no-binding"], 1) << told;
    EXPECT_EQ(told["dropped"], 1) << told;
    EXPECT_EQ(told["given_back"], 0) << told;
}

/// What is not for it stays what it was.
TEST_F(NotSent, OfATranslatorThatLeavesAFrameAlone) {
    auto service = translator("back");
    const auto frame = frameOf(udpPacket({"198.51.100.2", "192.0.2.1", 53, 4000}));
    fakeFunction().toReceive = {frame};
    EXPECT_EQ(service.serve({}), 0);
    ASSERT_EQ(fakeFunction().givenBack.size(), 1U);
    EXPECT_EQ(fakeFunction().givenBack[0], frame);
    const auto told = json::parse(service.statistics());
    EXPECT_EQ(told["reasons"]["no-binding"], 1) << told;
    EXPECT_EQ(told["given_back"], 1) << told;
}

TEST_F(NotSent, OfABalancerWhoseRingIsFull) {
    auto configuration = balancer::parseConfiguration(R"(
[[service]]
address = "192.0.2.80"
port = 53
protocol = "udp"
[[service.backend]]
address = "10.0.1.11"
port = 53
)",
                                                      "test.toml");
    ASSERT_TRUE(configuration) << configuration.error().sentence();
    balancer::Options options;
    options.json = true;
    balancer::Server server{options, std::move(*configuration), NetworkFunction{"f"}};
    const packets::Flow client{"198.51.100.2", "192.0.2.80", 4000, 53};
    fakeFunction().room = 1;
    fakeFunction().toReceive = {frameOf(udpPacket(client)), frameOf(udpPacket(client))};
    EXPECT_EQ(server.serve({}), 0);
    const auto told = json::parse(server.statistics());
    EXPECT_EQ(told["outcomes"]["forwarded"], 1) << told;
    EXPECT_EQ(told["outcomes"]["not-sent"], 1) << told;
    EXPECT_EQ(fakeFunction().dropped, 1U);
}

} // namespace
} // namespace tna::test
