// SPDX-License-Identifier: Apache-2.0
#include "connections_fixture.hpp"

#include "support/ipv6.hpp"

#include <filesystem>

namespace tna::test {

namespace {
constexpr std::size_t udp = 34;

void set16(Frame& frame, std::size_t at, std::size_t value) {
    frame.bytes.at(at) = static_cast<std::uint8_t>(value >> 8U);
    frame.bytes.at(at + 1) = static_cast<std::uint8_t>(value);
}
} // namespace

void ConnectionsTest::sumUdp(Frame& frame) {
    const auto length = frame.bytes.size() - udp;
    set16(frame, udp + 6, 0);
    std::vector<std::uint8_t> summed(frame.bytes.begin() + 26, frame.bytes.begin() + udp);
    summed.insert(summed.end(),
                  {0, 17, static_cast<std::uint8_t>(length >> 8U), static_cast<std::uint8_t>(length)});
    summed.insert(summed.end(), frame.bytes.begin() + udp, frame.bytes.end());
    const auto sum = internetChecksum(summed.data(), summed.size());
    set16(frame, udp + 6, sum == 0 ? 0xffff : sum);
}

Frame ConnectionsTest::finishUdp(Frame frame, std::uint16_t fromPort, std::uint16_t toPort) {
    set16(frame, udp, fromPort);
    set16(frame, udp + 2, toPort);
    set16(frame, udp + 4, frame.bytes.size() - udp);
    sumUdp(frame);
    return frame;
}

void ConnectionsTest::SetUp() {
    RouteTest::SetUp();
    if (IsSkipped())
        return;
    // The first rule that asks for connections brings what tracks them.
    const bool tracked =
        command({"nft", "table inet first { chain c { ct state established; }; }"}).exitCode == 0;
    if (!tracked || !std::filesystem::exists("/proc/sys/net/netfilter/nf_conntrack_udp_timeout_stream"))
        GTEST_SKIP() << "needs nft, and a kernel with nf_tables and connection tracking";
    nft("delete table inet first");
    config_.limits.connections = 1024;
    // None need be seen by Linux while a test runs.
    sysctl("net.netfilter.nf_conntrack_udp_timeout_stream", "1000000");
}

void ConnectionsTest::begin(const std::string& loaded) {
    nft(loaded);
    if (const int error = addConnection(connection_); error != 0)
        GTEST_SKIP() << "connections cannot be made by hand: " << std::strerror(error);
    accelerate();
    if (!IsSkipped())
        rulesAreKnown();
}

void ConnectionsTest::learned() {
    ASSERT_EQ(treat(forth()).out, routedTo(forth()));
    ASSERT_EQ(treat(back(), 1).out, routedTo(back(), 0));
}

} // namespace tna::test
