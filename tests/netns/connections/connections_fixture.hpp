// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "route_fixture.hpp"
#include "support/conntrack.hpp"

namespace tna::test {

/// A router whose rules let pass what belongs to a connection, and a connection of UDP that Linux knows: from
/// the host behind p0 to the one behind p1.
class ConnectionsTest : public RouteTest {
public:
    /// A packet of it; the checksum of UDP is right.
    [[nodiscard]] static Frame forth(const Ipv4& fields = {}, std::uint16_t toPort = 5000) {
        return finishUdp(RouteTest::packet(fields), 4000, toPort);
    }
    /// One in answer, which comes in by p1.
    [[nodiscard]] static Frame back() {
        return finishUdp(ipv4Frame(portMac(1), station(2), {.from = "10.0.1.2", .to = "10.0.0.2"}), 5000,
                         4000);
    }
    [[nodiscard]] static Frame finishUdp(Frame frame, std::uint16_t fromPort, std::uint16_t toPort);
    static void sumUdp(Frame& frame);

protected:
    static constexpr const char* rules =
        "table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
        " ct state established,related accept; }; }";

    void SetUp() override;
    /// Rules, the connection, the controller; until the rules are known.
    void begin(const std::string& loaded = rules);
    static void nft(const std::string& words) { must("nft " + words); }
    /// The first packet of each direction is Linux's, and comes out.
    void learned();
    /// What is sent is Linux's for a reason, and comes out, or (null) does not.
    void expectLinux(const Frame& frame, const std::string& reason, bool passes = true) {
        EXPECT_EQ(treat(frame), (Treatment{slowPath(reason), passes ? routedTo(frame) : Arrivals{}}));
    }

    Connection connection_;
};

} // namespace tna::test
