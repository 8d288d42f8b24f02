// SPDX-License-Identifier: Apache-2.0
// What changes while a flow is fast: from the first packet on that is sent after the command has returned,
// Linux decides. The controller is not run in between.
#include "connections_fixture.hpp"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <linux/netfilter.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tna::test {
namespace {

class Changes : public ConnectionsTest {
protected:
    /// A change of the rules; whether packets pass after it, and that they are fast again.
    void expectChange(const std::string& words, bool passes) {
        SCOPED_TRACE(words);
        expectFast(forth());
        nft(words);
        expectLinux(forth(), "ip-netfilter", passes);
        rulesAreKnown();
        EXPECT_EQ(treat(forth()).out, passes ? routedTo(forth()) : Arrivals{});
        EXPECT_EQ(treat(forth()), (passes ? Treatment{fastPath(), routedTo(forth())}
                                          : Treatment{slowPath("flow-changed"), {}}));
    }
    /// Back to what lets packets pass.
    void back(const std::string& words) {
        nft(words);
        rulesAreKnown();
        ASSERT_EQ(treat(forth()).out, routedTo(forth()));
    }
    /// Something else than rules.
    void expectLinuxAfter(const std::function<void()>& change, const char* reason = "flow-changed") {
        expectFast(forth());
        change();
        EXPECT_EQ(treat(forth()).path, slowPath(reason));
    }
};

TEST_F(Changes, OfRules) {
    begin();
    nft("add set inet guard blocked { type ipv4_addr; }");
    rulesAreKnown();
    learned();
    expectChange("insert rule inet guard forward ip saddr @blocked drop", true);
    expectChange("add element inet guard blocked { 10.0.0.2 }", false);
    back("delete element inet guard blocked { 10.0.0.2 }");
    expectChange("insert rule inet guard forward udp dport 5000 drop", false);
    back("flush chain inet guard forward; add rule inet guard forward ct state established accept");
    expectChange("flush chain inet guard forward", false);
    back("add rule inet guard forward ct state established accept");
    expectChange("add chain inet guard forward { policy accept; }", true);
    expectChange(
        "add table inet other; add chain inet other early { type filter hook prerouting priority -300; "
        "policy drop; }",
        false);
    back("delete table inet other");
}

/// Who is in the set is dropped from the next packet on, and passes when the time is over.
TEST_F(Changes, OfWhoIsBlockedForATime) {
    begin();
    nft("add set inet guard blocked { type ipv4_addr; flags timeout; }");
    nft("insert rule inet guard forward ip saddr @blocked counter drop");
    rulesAreKnown();
    learned();
    expectFast(forth());
    nft("add element inet guard blocked { 10.0.0.2 timeout 2s }");
    expectLinux(forth(), "ip-netfilter", false);
    rulesAreKnown();
    expectLinux(forth(), "flow-changed", false);
    EXPECT_TRUE(eventually([&] { return treat(forth()).out == routedTo(forth()); }));
    expectFast(forth());
}

/// What passes because it is in such a set need not for long.
TEST_F(Changes, OfWhoMayPassForATime) {
    begin();
    nft("add set inet guard allowed { type ipv4_addr; flags timeout; elements = { 10.0.0.2 timeout 1m }; }");
    nft("flush chain inet guard forward; add rule inet guard forward ip saddr @allowed accept");
    rulesAreKnown();
    for (int i = 0; i < 3; i++)
        expectLinux(forth(), "ip-netfilter");
}

TEST_F(Changes, WhereRulesAreNotSteady) {
    begin();
    learned();
    nft("insert rule inet guard forward limit rate 1000/second accept");
    expectLinux(forth(), "ip-netfilter");
    rulesAreKnown();
    for (int i = 0; i < 3; i++)
        expectLinux(forth(), "ip-netfilter");
    nft("flush chain inet guard forward; add rule inet guard forward ct state established accept");
    rulesAreKnown();
    learned();
    expectFast(forth());
}

TEST_F(Changes, WhereRulesGo) {
    begin();
    learned();
    expectFast(forth());
    nft("flush ruleset");
    EXPECT_EQ(treat(forth()).out, routedTo(forth()));
    ASSERT_TRUE(eventually([&] {
        pump();
        return send(forth()) == fastPath();
    }));
}

TEST_F(Changes, OfTheConnection) {
    begin();
    learned();
    expectLinuxAfter([&] { ASSERT_EQ(markConnection(connection_, 7), 0); });
    expectFast(forth());
    expectLinuxAfter([&] { ASSERT_EQ(removeConnection(connection_), 0); });
    EXPECT_EQ(treat(forth()).out, Arrivals{})
        << "it begins a connection now, which the rules do not let pass";
}

TEST_F(Changes, OfDevices) {
    begin();
    learned();
    expectLinuxAfter([] { must("ip link set p1 group 7"); });
    expectLinuxAfter([] { must("ip link set p0 group 8"); });
    for (const unsigned port : {0U, 1U}) {
        SCOPED_TRACE(port);
        learned();
        expectLinuxAfter([&] {
            must(fmt::format("ip link set p{} down", port));
            must(fmt::format("ip link set p{0} name q{0}", port));
            must(fmt::format("ip link set q{} up", port));
            knows(fmt::format("q{}", port), port);
        });
    }
}

TEST_F(Changes, OfTheWay) {
    begin();
    learned();
    expectFast(forth());
    must("ip route add 10.0.1.2/32 via 10.0.2.2");
    EXPECT_EQ(treat(forth()), (Treatment{slowPath("flow-changed"), routedTo(forth(), 2)}));
    EXPECT_EQ(treat(forth()), (Treatment{fastPath(), routedTo(forth(), 2)}));
}

TEST_F(Changes, OfRoutesThatRulesLookAt) {
    begin("table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
          " fib saddr . iif oif exists ct state established accept; }; }");
    learned();
    expectLinuxAfter([] { must("ip route add 10.9.0.0/24 via 10.0.2.2"); });
    expectFast(forth());
    must("ip route add 10.0.0.2/32 via 10.0.2.2");
    expectLinux(forth(), "flow-changed", false);
}

TEST_F(Changes, OfMarksThatRulesPutOnPackets) {
    begin();
    learned();
    expectFast(forth());
    nft("insert rule inet guard forward meta mark set 7");
    rulesAreKnown();
    expectLinux(forth(), "flow-changed");
    for (int i = 0; i < 3; i++)
        expectFast(forth());
    nft("insert rule inet guard forward meta mark 7 drop");
    rulesAreKnown();
    expectLinux(forth(), "flow-changed");
    nft("insert rule inet guard forward meta mark set 7");
    rulesAreKnown();
    expectLinux(forth(), "flow-changed", false);
}

/// A BPF program that netfilter calls, which has no generation; it drops all.
UniqueFd hook(int place, int priority) {
    const bpf_insn drop[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0},
        {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
    constexpr unsigned programType = 32, attachType = 45; // of netfilter, since 6.4
    LIBBPF_OPTS(bpf_prog_load_opts, options);
    options.expected_attach_type = std::bit_cast<bpf_attach_type>(attachType);
    const UniqueFd program{
        bpf_prog_load(std::bit_cast<bpf_prog_type>(programType), "drops", "GPL", drop, 2, &options)};
    EXPECT_TRUE(program);
    struct {
        std::uint32_t program, target, type, flags, family, hook;
        std::int32_t priority;
        std::uint32_t netfilterFlags;
        std::uint64_t unused[4];
    } attributes{static_cast<std::uint32_t>(program.get()), 0,        attachType, 0, NFPROTO_IPV4,
                 static_cast<std::uint32_t>(place),         priority, 0,          {}};
    return UniqueFd{static_cast<int>(::syscall(__NR_bpf, BPF_LINK_CREATE, &attributes, sizeof attributes))};
}

class Hooks : public Changes, public testing::WithParamInterface<int> {};

TEST_P(Hooks, OfOthers) {
    begin();
    learned();
    expectFast(forth());
    {
        const auto foreign = hook(GetParam(), 5);
        ASSERT_TRUE(foreign);
        expectLinux(forth(), "ip-netfilter", false);
        expectLinux(forth(), "ip-netfilter", false);
    }
    EXPECT_EQ(treat(forth()).out, routedTo(forth()));
}

INSTANTIATE_TEST_SUITE_P(At, Hooks,
                         testing::Values(NF_INET_PRE_ROUTING, NF_INET_FORWARD, NF_INET_POST_ROUTING));

} // namespace
} // namespace tna::test
