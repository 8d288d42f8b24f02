// SPDX-License-Identifier: Apache-2.0
// Flows that are routed by rules (`ip rule`), and marks that rule sets put on packets for them.
#include "connections_fixture.hpp"

#include <fmt/format.h>

namespace tna::test {
namespace {

/// Table 7 leads to another host behind p1.
class RoutedByMark : public ConnectionsTest {
protected:
    static constexpr unsigned other = 9;
    static constexpr const char* marks =
        "table ip marks { chain before { type filter hook prerouting priority -150; udp dport 5000 meta mark"
        " set 1; }; chain after { type filter hook postrouting priority 300; meta mark set 0; }; }";

    void SetUp() override {
        ConnectionsTest::SetUp();
        if (IsSkipped())
            return;
        must("ip neigh replace 10.0.1.3 lladdr " + text(station(other)) + " dev p1 nud permanent");
        must("ip route add default via 10.0.1.3 table 7");
    }
    /// To the other host, by Linux.
    void expectByMark() {
        for (int i = 0; i < 3; i++) {
            const auto treated = treat(forth());
            EXPECT_EQ(treated.path.fast, 0U);
            EXPECT_EQ(treated.out, (Arrivals{{1, {oneHopFurther(forth(), station(other), portMac(1))}}}));
        }
    }
};

TEST_F(RoutedByMark, FlowsGoWhereRoutingRulesSendThem) {
    begin();
    learned();
    must("ip route replace default via 10.0.2.2 table 7");
    must("ip rule add iif p0 lookup 7");
    EXPECT_EQ(treat(forth()), (Treatment{slowPath("flow-changed"), routedTo(forth(), 2)}));
    EXPECT_EQ(treat(forth()), (Treatment{fastPath(), routedTo(forth(), 2)}));
    must("ip rule del iif p0 lookup 7");
    EXPECT_EQ(treat(forth()), (Treatment{slowPath("flow-changed"), routedTo(forth())}));
    expectFast(forth());
}

/// Nobody sees it where flows are learnt.
TEST_F(RoutedByMark, MarksThatAreTakenOffAgain) {
    begin(fmt::format("{}; {}", rules, marks));
    for (int i = 0; i < 3; i++)
        expectLinux(forth(), "flow-unknown");
    must("ip rule add fwmark 1 lookup 7");
    expectByMark();
}

TEST_F(RoutedByMark, MarksThatAreTakenOffLater) {
    begin();
    must("ip rule add fwmark 1 lookup 7");
    learned();
    expectFast(forth());
    nft(marks);
    rulesAreKnown();
    expectByMark();
}

/// Marks that are put on before packets are routed, and stay, are seen where flows are learnt.
TEST_F(RoutedByMark, MarksThatStay) {
    begin(fmt::format("{}; table ip marks {{ chain before {{ type filter hook prerouting priority -150;"
                      " ip saddr 10.0.0.9 meta mark set 1; }}; }}",
                      rules));
    must("ip rule add fwmark 1 lookup 7");
    learned();
    expectFast(forth());
    nft("insert rule ip marks before meta mark set 1");
    rulesAreKnown();
    expectByMark();
}

} // namespace
} // namespace tna::test
