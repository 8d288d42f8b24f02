// SPDX-License-Identifier: Apache-2.0
// Packets that pass rules where nobody tracks connections: flows of which two packets have passed are fast,
// for as long as the rules treat all of a flow alike.
#include "bridged_fixture.hpp"
#include "tcp_fixture.hpp"
#include "ways_fixture.hpp"

#include "support/own_objects.hpp"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <string>
#include <tna/connection.h>

namespace tna::test {
namespace {

class Untracked : public ConnectionsTest {
protected:
    static constexpr const char* open =
        "table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
        " udp dport 5000 counter accept; udp sport 5000 accept; tcp dport 5000 accept; }; }";

    void begin(const std::string& loaded = open) {
        nft(loaded);
        accelerate();
        if (!IsSkipped())
            rulesAreKnown();
    }
    void learned(const Frame& frame) {
        for (int i = 0; i < 2; i++)
            expectLinux(frame, "flow-unknown");
        expectFast(frame);
    }
    static Frame changed(std::size_t at, std::uint8_t value) {
        auto frame = forth();
        frame.bytes.at(at) = value;
        finishIpv4(frame);
        return frame;
    }
    static Frame segment(std::uint8_t flags) {
        auto frame = RouteTest::packet({.protocol = IPPROTO_TCP, .payload = 32});
        put(frame, 34, 4000);
        put(frame, 36, 5000);
        put(frame, 46, 0x5000U | flags);
        put(frame, 48, 1000); // window
        return frame;
    }
};

TEST_F(Untracked, FlowsAreFastInEachDirection) {
    begin();
    learned(forth());
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(treat(back(), 1), (Treatment{slowPath("flow-unknown"), routedTo(back(), 0)}));
    EXPECT_EQ(treat(back(), 1), (Treatment{fastPath(), routedTo(back(), 0)}));
    expectFast(forth());
}

TEST_F(Untracked, FlowsThatRulesDropAreNeverLearnt) {
    begin();
    for (int i = 0; i < 4; i++)
        expectLinux(forth({}, 5001), "flow-unknown", false);
}

/// Nobody has a look at checksums.
TEST_F(Untracked, ChecksumsDoNotMatter) {
    begin();
    learned(forth());
    auto frame = forth();
    frame.bytes.back() ^= 1U;
    expectFast(frame);
}

/// Rules see them differently, or may.
TEST_F(Untracked, OtherKindsOfPacketsAreLinuxs) {
    begin();
    learned(forth());
    expectLinux(changed(20, 0x20), "flow-kind"); // more fragments
    learned(segment(ack));
    expectFast(segment(ack | psh));
    for (const std::uint8_t flags :
         {syn, static_cast<std::uint8_t>(syn | ack), static_cast<std::uint8_t>(fin | ack),
          static_cast<std::uint8_t>(rst | ack), static_cast<std::uint8_t>(urg | ack)})
        expectLinux(segment(flags), "flow-kind");
    expectFast(segment(ack));
}

/// Nobody has put it together, and it has ports.
TEST_F(Untracked, TheFirstFragmentIsNoLesson) {
    begin("table inet guard { chain forward { type filter hook forward priority 0;"
          " ip frag-off & 0x2000 != 0 accept; udp dport 5000 drop; }; }");
    for (int i = 0; i < 3; i++)
        expectLinux(changed(20, 0x20), "flow-kind");
    expectLinux(forth(), "flow-unknown", false);
}

TEST_F(Untracked, RulesByFlagsSeeTheFirstSegment) {
    begin("table inet guard { chain forward { type filter hook forward priority 0;"
          " tcp flags & (syn | ack) == syn drop; }; }");
    learned(segment(ack));
    expectLinux(segment(syn), "flow-kind", false);
}

TEST_F(Untracked, ARuleThatForbidsHoldsForTheNextPacket) {
    begin();
    learned(forth());
    nft("insert rule inet guard forward udp dport 5000 drop");
    EXPECT_EQ(treat(forth()).out, Arrivals{});
    rulesAreKnown();
    EXPECT_EQ(treat(forth()).out, Arrivals{});
}

TEST_F(Untracked, SetsAreAskedForEachChange) {
    begin("table inet guard { set some { type ipv4_addr; }; chain forward { type filter hook forward "
          "priority 0;"
          " ip saddr @some drop; }; }");
    learned(forth());
    nft("add element inet guard some { 10.0.0.2 }");
    EXPECT_EQ(treat(forth()).out, Arrivals{});
}

TEST_F(Untracked, RulesThatLookAtEachPacketAreLinuxs) {
    begin("table inet guard { chain forward { type filter hook forward priority 0; ip ttl 1 drop; }; }");
    for (int i = 0; i < 3; i++)
        expectLinux(forth(), "ip-netfilter");
}

TEST_F(Untracked, TheTypeOfServiceIsPartOfIt) {
    begin("table inet guard { chain forward { type filter hook forward priority 0; ip dscp cs1 drop; }; }");
    learned(forth());
    expectLinux(changed(15, 0x20), "flow-changed", false);
    expectFast(forth());
}

TEST_F(Untracked, TheDeviceThatItComesByIsPartOfIt) {
    for (const char* device : {"all", "p0", "p1", "p2"})
        sysctl(std::string{"net.ipv4.conf."} + device + ".rp_filter", "0");
    begin("table inet guard { chain forward { type filter hook forward priority 0; iifname p2 drop; }; }");
    learned(forth());
    auto frame = forth();
    std::copy_n(portMac(2).begin(), 6, frame.bytes.begin());
    EXPECT_EQ(treat(frame, 2), (Treatment{slowPath("flow-changed"), {}}));
    expectFast(forth());
}

TEST_F(Untracked, ADeviceThatIsRenamedIsAnother) {
    begin("table inet guard { chain forward { type filter hook forward priority 0; oifname other drop; }; }");
    learned(forth());
    must("ip link set p1 name other");
    EXPECT_EQ(treat(forth()).out, Arrivals{});
}

/// A route that goes elsewhere: the rules see another device.
TEST_F(Untracked, AnotherRouteIsAnotherLesson) {
    begin("table inet guard { chain forward { type filter hook forward priority 0; oifname p2 drop; }; }");
    learned(forth());
    must("ip route add 10.0.1.2/32 via 10.0.2.2 dev p2");
    EXPECT_EQ(treat(forth()).out, Arrivals{});
}

TEST_F(Untracked, LinuxSeesOneNowAndThen) {
    config_.kernel.refresh = 1;
    begin();
    EXPECT_TRUE(eventually([&] {
        const auto treated = treat(forth());
        EXPECT_EQ(treated.out, routedTo(forth()));
        return treated.path == slowPath("flow-refresh") || HasFailure();
    }));
}

/// From when something asks for connections, only those count of which Linux is sure.
TEST_F(Untracked, IsOverWhenConnectionsAreTracked) {
    begin();
    learned(forth());
    nft("add table ip asks; add chain ip asks c { type filter hook forward priority 5; };"
        " add rule ip asks c ct state invalid drop");
    EXPECT_EQ(treat(forth()), (Treatment{slowPath("ip-netfilter"), routedTo(forth())}));
    rulesAreKnown();
    for (int i = 0; i < 4; i++) {
        const auto treated = treat(forth());
        EXPECT_EQ(treated.out, routedTo(forth()));
        EXPECT_EQ(treated.path.fast, 0U);
    }
    nft("delete table ip asks");
    rulesAreKnown();
    EXPECT_TRUE(eventually([&] {
        const auto treated = treat(forth());
        EXPECT_EQ(treated.out, routedTo(forth()));
        return treated.path.fast > 0 || HasFailure();
    }));
}

/// Connection tracking gives what it calls invalid no connection either.
TEST_F(Untracked, WhatIsInvalidIsNotLearnt) {
    begin("table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
          " ct state invalid,established accept; udp dport 5000 accept; }; }");
    auto frame = forth();
    frame.bytes.back() ^= 1U;
    for (int i = 0; i < 4; i++)
        expectLinux(frame, "flow-unknown");
}

/// What a lesson's memory becomes when another flow takes its place, while a packet looks at it.
TEST_F(Untracked, LessonsOfOthersAreNone) {
    begin("table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
          " udp dport 5123 accept; }; }");
    learned(forth({}, 5123));
    const auto key = [](std::uint16_t port) {
        return tna_ends{.source = inet_addr("10.0.0.2"),
                        .destination = inet_addr("10.0.1.2"),
                        .source_port = htons(4000),
                        .destination_port = htons(port),
                        .protocol = IPPROTO_UDP};
    };
    const auto learnt = key(5123), other = key(5124);
    int planted = 0;
    eachOwnMap("lessons", [&](int map, const bpf_map_info&) {
        tna_lesson lesson{};
        if (bpf_map_lookup_elem(map, &learnt, &lesson) == 0 &&
            bpf_map_update_elem(map, &other, &lesson, BPF_ANY) == 0)
            planted++;
    });
    ASSERT_EQ(planted, 1);
    expectLinux(forth({}, 5124), "flow-changed", false);
    expectFast(forth({}, 5123));
}

/// Where connections have been translated before, nothing of that is left in packets of others.
TEST_F(Untracked, NothingIsTranslated) {
    begin("table ip guard { chain forward { type filter hook forward priority 0; policy drop;"
          " udp dport 5000 accept; ct state established accept; };"
          " chain after { type nat hook postrouting priority 100; oif p1 masquerade; }; }");
    const auto answer =
        finishUdp(ipv4Frame(portMac(1), station(2), {.from = "10.0.1.2", .to = "10.0.1.1"}), 5000, 4000);
    EXPECT_TRUE(eventually([&] {
        const auto there = treat(forth()), andBack = treat(answer, 1);
        return (there.path.fast > 0 && andBack.path.fast > 0) || HasFailure();
    }));
    nft("flush ruleset");
    nft(open);
    rulesAreKnown();
    EXPECT_TRUE(eventually([&] {
        const auto treated = treat(forth());
        EXPECT_EQ(treated.out, routedTo(forth()));
        return treated.path.fast > 0 || HasFailure();
    }));
    expectFast(forth());
}

/// The same over IPv4 and IPv6, whichever way packets go.
template <typename Router>
class UntrackedWays : public Ways<Router> {
protected:
    std::string rules() override {
        return "table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
               " udp dport 5000 accept; udp sport 5000 accept; }; }";
    }
};
TYPED_TEST_SUITE(UntrackedWays, Routers);

TYPED_TEST(UntrackedWays, AreFastFromTheThirdPacketOn) {
    this->expectFastFromTheThirdPacketOn();
    must("nft insert rule inet guard forward udp dport 5000 drop");
    EXPECT_EQ(this->treated(this->forth(), 0), (Treatment{slowPath("ip-netfilter"), {}}));
}

class UntrackedBridged : public CallsRules<ConnectionsTest> {};

TEST_F(UntrackedBridged, FlowsAreFastFromTheThirdPacketOn) {
    nft("table ip guard { chain forward { type filter hook forward priority 0; policy drop;"
        " udp dport 5000 accept; }; }");
    accelerate();
    rulesAreKnown();
    const auto frame = withPorts(ipv4Frame(station(2), station(1), {}), 4000, 5000);
    const Arrivals out{{1, {frame}}};
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(treat(frame), (Treatment{slowPath("flow-unknown"), out}));
    EXPECT_EQ(treat(frame), (Treatment{fastPath(), out}));
    nft("insert rule ip guard forward udp dport 5000 drop");
    EXPECT_EQ(treat(frame).out, Arrivals{});
}

} // namespace
} // namespace tna::test
