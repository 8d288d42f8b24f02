// SPDX-License-Identifier: Apache-2.0
// What is no lesson about packets that pass rules of bridges, and what else such a lesson depends on.
#include "bridge_rules_fixture.hpp"

#include "support/own_objects.hpp"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <span>
#include <sys/socket.h>
#include <tna/bridge_rules.h>

namespace tna::test {
namespace {

class OwnRules : public BridgeRulesTest {
protected:
    static Frame udp(std::uint16_t port = 5000) { return packet({.to = port}); }
    static Frame tcp(std::uint8_t flags = 0x10) { return packet({.tcp = true, .flags = flags}); }
    static void calls(const char* value) {
        for (const char* name : {"net.bridge.bridge-nf-call-iptables", "net.bridge.bridge-nf-call-ip6tables"})
            sysctl(name, value);
    }
    static constexpr auto tcxIngress = static_cast<bpf_attach_type>(46);
    static constexpr auto tcxEgress = static_cast<bpf_attach_type>(47);
    static UniqueFd filter(const char* port, bpf_attach_type where, std::span<const bpf_insn> code) {
        const UniqueFd program{
            bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "filter", "GPL", code.data(), code.size(), nullptr)};
        return UniqueFd{
            bpf_link_create(program.get(), static_cast<int>(if_nametoindex(port)), where, nullptr)};
    }
    /// A program of tc that sends what comes in by one port out of another one.
    static UniqueFd redirect(const char* from, const char* to) {
        const auto number = static_cast<std::int32_t>(if_nametoindex(to));
        const bpf_insn code[] = {
            {.code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = 1, .src_reg = 0, .off = 0, .imm = number},
            {.code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = 2, .src_reg = 0, .off = 0, .imm = 0},
            {.code = BPF_JMP | BPF_CALL, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = BPF_FUNC_redirect},
            {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
        return filter(from, tcxIngress, code);
    }
    /// One that writes another destination port into packets of UDP.
    static UniqueFd rewrite(const char* port, bpf_attach_type where, std::uint16_t destination) {
        const bpf_insn code[] = {
            {.code = BPF_ST | BPF_MEM | BPF_H,
             .dst_reg = 10,
             .src_reg = 0,
             .off = -8,
             .imm = htons(destination)},
            {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .src_reg = 0, .off = 0, .imm = 36},
            {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 3, .src_reg = 10, .off = 0, .imm = 0},
            {.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 3, .src_reg = 0, .off = 0, .imm = -8},
            {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 4, .src_reg = 0, .off = 0, .imm = 2},
            {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 5, .src_reg = 0, .off = 0, .imm = 0},
            {.code = BPF_JMP | BPF_CALL,
             .dst_reg = 0,
             .src_reg = 0,
             .off = 0,
             .imm = BPF_FUNC_skb_store_bytes},
            {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = -1},
            {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
        return filter(port, where, code);
    }
    static bool haveBrNetfilter() {
        return command({"sysctl", "-n", "net.bridge.bridge-nf-call-iptables"}).exitCode == 0;
    }
};

TEST_F(OwnRules, OfOtherKindsPacketsAreLinuxs) {
    begin(forward("udp dport 5001 drop;"));
    learned(udp());
    expectLinux("flow-kind", packet({.fragment = 0x2000}));
    expectLinux("bridge-netfilter",
                FrameBuilder().ethernet(station(2), station(1)).etherType(0x88b5).raw(46));
    learned(tcp());
    expect(fastPath(), tcp(0x18)); // with PSH
    for (const auto flags : std::initializer_list<std::uint8_t>{0x02, 0x12, 0x11, 0x14, 0x30})
        expectLinux("flow-kind", tcp(flags));
    expect(fastPath(), tcp());
}

TEST_F(OwnRules, AFragmentIsNoLesson) {
    begin(forward("ip frag-off & 0x2000 != 0 accept; udp dport 5000 drop;"));
    expectLinux("flow-kind", packet({.fragment = 0x2000}));
    expectDropped("flow-unknown", udp());
}

/// To rules it is no packet of IP then.
TEST_F(OwnRules, APacketThatIsShorterThanItSaysIsNoLesson) {
    begin(forward("udp dport 5000 drop; meta l4proto udp accept;"));
    for (const bool six : {false, true}) {
        auto longer = packet({.six = six});
        put(longer, six ? 18 : 16, 1000);
        if (!six)
            finishIpv4(longer);
        expectLinux("flow-kind", longer);
        expectDropped("flow-unknown", packet({.six = six}));
    }
}

TEST_F(OwnRules, TheBeginningOfAConnectionIsNoLesson) {
    begin(forward("tcp flags & (syn | ack) == syn accept; tcp dport 5000 drop;"));
    expectLinux("flow-kind", tcp(0x02));
    expectDropped("flow-unknown", tcp());
}

TEST_F(OwnRules, AreSteadyByProtocol) {
    begin(forward("meta l4proto tcp limit rate over 1/day burst 1 packets log;"));
    learned(udp());
    expectLinux("bridge-netfilter", tcp());
}

TEST_F(OwnRules, ThatLookAtEachPacketLeaveAllToLinux) {
    begin(forward("ip ttl 7 drop;"));
    expectLinux("bridge-netfilter", udp());
    EXPECT_EQ(treat(packet({.ttl = 7})).out, Arrivals{});
    const auto because = controller_->rules()["learning"]["because"];
    ASSERT_FALSE(because.empty());
    EXPECT_EQ(because[0]["packets"], "bridge");
    EXPECT_NE(because[0]["reason"].get<std::string>().find("TTL"), std::string::npos);
}

TEST_F(OwnRules, TheTypeOfServiceIsPartOfIt) {
    begin(forward("ip dscp cs1 drop;"));
    learned(udp());
    expectDropped("flow-unknown", packet({.tos = 0x20}));
    expect(fastPath(), udp());
}

TEST_F(OwnRules, TheBridgesGroupIsPartOfIt) {
    begin(forward("udp dport 5001 drop;"));
    learned(udp());
    must("ip link set br0 group 5");
    learned(udp(), "flow-changed");
}

/// Only then is there a VLAN of the port to ask for (nft_meta_bridge_get_eval()).
TEST_F(OwnRules, WhatABridgeHasPassedThatFiltersVlansIsNoLesson) {
    if (command({"ip", "link", "set", "br0", "type", "bridge", "vlan_filtering", "1"}).exitCode != 0 ||
        command({"nft", "table bridge asks { " + forward("meta ibrpvid 1 accept;") + " }"}).exitCode != 0)
        GTEST_SKIP() << "this kernel has no bridges that filter VLANs, or rules cannot ask for them";
    must("ip link set br0 type bridge vlan_filtering 0");
    nft("delete table bridge asks");
    begin(forward("meta ibrpvid 1 accept; drop;"));
    expectDropped("flow-unknown", udp());
    must("ip link set br0 type bridge vlan_filtering 1");
    for (const auto number : {1U, 2U})
        must("bridge fdb replace " + text(station(number)) + " dev p" + std::to_string(number - 1) +
             " vlan 1 master static");
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(treat(udp()).out.at(1), std::vector{udp()});
    must("ip link set br0 type bridge vlan_filtering 0");
    EXPECT_EQ(treat(udp()).out, Arrivals{});
}

TEST_F(OwnRules, WhatTcRedirectsIsNoLesson) {
    begin(forward("udp dport 5000 drop;"));
    expectDropped("flow-unknown", udp());
    auto redirection = redirect("p0", "p1");
    if (!redirection)
        GTEST_SKIP() << "this kernel has no tcx";
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(treat(udp()), (Treatment{slowPath("tc"), {{1, {udp()}}}}));
    redirection.reset();
    expectDropped("flow-unknown", udp());
}

/// Rules see what filters have made of a packet between the two places where it is looked at.
TEST_F(OwnRules, WhatFiltersMakeAnotherPacketInBetweenIsNoLesson) {
    begin(forward("udp dport 5000 drop;"));
    expectDropped("flow-unknown", udp());
    auto there = rewrite("p0", tcxIngress, 5001), back = rewrite("p1", tcxEgress, 5000);
    if (!there || !back)
        GTEST_SKIP() << "this kernel has no tcx";
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(treat(udp()), (Treatment{slowPath("tc"), {{1, {udp()}}}}));
    there.reset();
    back.reset();
    expectDropped("flow-unknown", udp());
}

/// What is dropped leaves its memory to what comes next.
TEST_F(OwnRules, WhatTheHostSendsItselfIsNoLesson) {
    begin(forward("udp dport 5000 drop;"));
    const UniqueFd socket{::socket(AF_PACKET, SOCK_RAW, 0)};
    sockaddr_ll to{};
    to.sll_family = AF_PACKET;
    to.sll_ifindex = static_cast<int>(if_nametoindex("br0"));
    for (int i = 0; i < 20; i++) {
        expectDropped("flow-unknown", udp());
        ASSERT_GT(::sendto(socket.get(), udp().bytes.data(), udp().bytes.size(), 0,
                           reinterpret_cast<const sockaddr*>(&to), sizeof to),
                  0);
        EXPECT_EQ(arrivals(), (Arrivals{{1, {udp()}}}));
    }
}

/// The table's memory of a flow may become another one's while it is looked at.
TEST_F(OwnRules, ALessonOfAnotherFlowIsNone) {
    begin(forward("udp dport 5124 drop;"));
    learned(udp(5123));
    int planted = 0;
    eachOwnMap("bridge_lessons", [&](int map, const bpf_map_info&) {
        tna_bridged_packet key{};
        tna_bridge_lesson lesson{};
        for (const void* last = nullptr; bpf_map_get_next_key(map, last, &key) == 0; last = &key)
            if (key.destination_port == htons(5123) && bpf_map_lookup_elem(map, &key, &lesson) == 0) {
                key.destination_port = htons(5124);
                planted += bpf_map_update_elem(map, &key, &lesson, BPF_ANY) == 0 ? 1 : 0;
                return;
            }
    });
    ASSERT_EQ(planted, 1);
    expectDropped("flow-changed", udp(5124));
    expect(fastPath(), udp(5123));
}

/// Rules of IP are called as well, and remember connections.
TEST_F(OwnRules, GoTogetherWithThoseOfIp) {
    if (!haveBrNetfilter())
        GTEST_SKIP() << "this kernel has no br_netfilter";
    calls("1");
    nft("table ip filter { chain f { type filter hook forward priority 0; policy drop;"
        " udp dport { 5000, 5001 } accept; }; }");
    begin(forward("udp dport 5001 drop;"));
    ASSERT_TRUE(eventually([&] {
        const auto treated = treat(udp());
        EXPECT_EQ(treated.out, (Arrivals{{1, {udp()}}}));
        return treated.path.fast > 0 || HasFailure();
    }));
    expect(fastPath(), udp());
    EXPECT_EQ(treat(udp(5001)).out, Arrivals{});
    EXPECT_EQ(treat(udp(5002)).out, Arrivals{});
    nft("insert rule ip filter f udp dport 5000 drop");
    EXPECT_EQ(treat(udp()), (Treatment{slowPath("bridge-netfilter"), {}}));
    known();
    EXPECT_EQ(treat(udp()).out, Arrivals{});
    nft("flush chain ip filter f");
    nft("add rule ip filter f accept");
    known();
    ASSERT_TRUE(eventually([&] { return treat(udp()).path.fast > 0; }));
    nft("insert rule bridge guard forward udp dport 5000 drop");
    EXPECT_EQ(treat(udp()), (Treatment{slowPath("bridge-netfilter"), {}}));
    known();
    EXPECT_EQ(treat(udp()), (Treatment{slowPath("flow-changed"), {}}));
}

/// Where rules of IP are called, those of bridges with the same priority, behind br_netfilter, are passed
/// over at forward (br_nf_hook_thresh()).
class RulesBehindBrNetfilter : public OwnRules {
protected:
    void beforeTheBridge() override {
        made_ =
            command({"nft", "table bridge guard { " + forward("udp dport 5000 drop;") + " }"}).exitCode == 0;
    }
    bool made_ = false;
};

TEST_F(RulesBehindBrNetfilter, HoldAgainWhenThoseOfIpAreNotCalledAnyMore) {
    if (!made_ || !haveBrNetfilter())
        GTEST_SKIP() << "this kernel has no such rules, or no br_netfilter";
    begin("chain unused { };");
    expectDropped("flow-unknown", udp());
    calls("1");
    for (int i = 0; i < 2; i++) // passed over: if not, the kernel has another order, and this shows nothing
        if (treat(udp()).out != Arrivals{{1, {udp()}}})
            GTEST_SKIP() << "br_netfilter passes over no rules here";
    calls("0");
    expectDropped("flow-changed", udp());
}

/// Changes come while packets do: none that was sent after a command had returned is treated as before it.
TEST_F(OwnRules, ChangeUnderTraffic) {
    begin(forward("udp dport 5001 drop;"));
    std::uint64_t fast = 0;
    for (int round = 0; round < 20; round++) {
        known();
        for (int i = 0; i < 10; i++) {
            const auto treated = treat(udp());
            EXPECT_EQ(treated.out, (Arrivals{{1, {udp()}}}));
            fast += treated.path.fast;
        }
        nft("insert rule bridge guard forward udp dport 5000 drop");
        for (int i = 0; i < 3; i++)
            EXPECT_EQ(treat(udp()).out, Arrivals{}) << "in round " << round;
        if (round % 2 == 0)
            known();
        EXPECT_EQ(treat(udp()).out, Arrivals{}) << "in round " << round;
        nft("flush chain bridge guard forward");
        EXPECT_EQ(treat(udp()).out, (Arrivals{{1, {udp()}}})) << "in round " << round;
    }
    EXPECT_GE(fast, 20U * 8);
}

} // namespace
} // namespace tna::test
