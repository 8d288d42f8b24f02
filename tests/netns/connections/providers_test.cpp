// SPDX-License-Identifier: Apache-2.0
// A router with two providers: each connection gets one, and keeps it by its mark.
#include "connections_fixture.hpp"

#include <fmt/format.h>

namespace tna::test {
namespace {

/// p0 leads to the hosts, p1 and p2 to a provider each; both know no other address than the router's.
class Providers : public ConnectionsTest {
protected:
    static constexpr unsigned connections = 6;
    static constexpr const char* marking =
        "table inet providers { chain before { type filter hook prerouting priority mangle;"
        " ct state invalid drop;"
        " ct state new iifname \"p0\" ct mark set numgen inc mod 2 map { 0 : 1, 1 : 2 };"
        " iifname \"p0\" meta mark set ct mark; }; };"
        " table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
        " ct state established,related accept; iifname \"p0\" accept; }; };"
        " table ip out { chain after { type nat hook postrouting priority 100; oifname != \"p0\" masquerade; "
        "}; }";

    struct Flow {
        Frame sent;
        Frame answer;
        unsigned provider = 0;
        Arrivals out;
    };

    void SetUp() override {
        ConnectionsTest::SetUp();
        if (IsSkipped())
            return;
        config_.kernel.refresh = 1U << 30U; // none need be seen by Linux while the test runs
        must("ip route add default via 10.0.1.2");
        for (const unsigned number : {1U, 2U}) {
            must(fmt::format("ip route add default via 10.0.{0}.2 table {1}", number, 100 + number));
            must(fmt::format("ip rule add fwmark {0} lookup {1}", number, 100 + number));
        }
    }
    /// The first packet goes to a provider, whose answer comes back to the host.
    Flow beginFlow(std::uint16_t number) {
        Flow flow{.sent = finishUdp(packet({.to = "198.51.100.7"}), 4000 + number, 53)};
        const auto begun = treat(flow.sent);
        flow.out = begun.out;
        EXPECT_EQ(begun.path.fast, 0U);
        if (flow.out.size() != 1)
            throw std::runtime_error("a packet went nowhere");
        flow.provider = flow.out.begin()->first;
        const auto& left = flow.out.begin()->second.front().bytes;
        flow.answer =
            finishUdp(ipv4Frame(portMac(flow.provider), station(flow.provider + 1),
                                {.from = "198.51.100.7", .to = fmt::format("10.0.{}.1", flow.provider)}),
                      53, static_cast<std::uint16_t>(left.at(34) << 8U | left.at(35)));
        EXPECT_EQ(treat(flow.answer, flow.provider).out.size(), 1U);
        return flow;
    }
};

TEST_F(Providers, ConnectionsKeepTheirs) {
    nft(marking);
    accelerate();
    if (IsSkipped())
        return;
    rulesAreKnown();
    std::vector<Flow> flows;
    for (std::uint16_t number = 0; number < connections; number++)
        flows.push_back(beginFlow(number));
    for (const unsigned provider : {1U, 2U})
        EXPECT_EQ(std::ranges::count(flows, provider, &Flow::provider), connections / 2);
    // Until connection tracking calls them streams.
    EXPECT_TRUE(eventually([&] {
        return std::ranges::all_of(flows, [&](const Flow& flow) {
            return treat(flow.sent).path == fastPath() &&
                   treat(flow.answer, flow.provider).path == fastPath();
        });
    }));
    for (int i = 0; i < 3; i++)
        for (const auto& flow : flows) {
            EXPECT_EQ(treat(flow.sent), (Treatment{fastPath(), flow.out}));
            const auto back = oneHopFurther(
                finishUdp(ipv4Frame(portMac(flow.provider), station(flow.provider + 1),
                                    {.from = "198.51.100.7", .to = "10.0.0.2"}),
                          53,
                          static_cast<std::uint16_t>(flow.sent.bytes.at(34) << 8U | flow.sent.bytes.at(35))),
                station(1), portMac(0));
            EXPECT_EQ(treat(flow.answer, flow.provider), (Treatment{fastPath(), {{0, {back}}}}));
        }
    // One provider is given up. Linux drops what would leave by the other one as by this.
    must("ip rule del fwmark 2 lookup 102");
    for (const auto& flow : flows)
        EXPECT_EQ(treat(flow.sent).out, flow.provider == 2 ? Arrivals{} : flow.out);
}

} // namespace
} // namespace tna::test
