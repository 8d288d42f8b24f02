// SPDX-License-Identifier: Apache-2.0
// Bridged packets that pass the rules of routed ones (br_netfilter): what Linux has let pass is fast, and
// comes out as it was.
#include "bridged_fixture.hpp"
#include "ways_fixture.hpp"

#include <algorithm>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

struct Kind {
    const char* name;
    bool six;
    bool tcx;
};
void PrintTo(const Kind& kind, std::ostream* out) {
    *out << kind.name;
}

class BridgedFlows : public CallsRules<ConnectionsTest>, public ::testing::WithParamInterface<Kind> {
protected:
    void SetUp() override {
        CallsRules::SetUp();
        if (six())
            connection_ = {.from = "fd00::2", .to = "fd00:0:0:1::2"};
        atTcxIf(GetParam().tcx);
    }
    [[nodiscard]] static bool six() { return GetParam().six; }
    [[nodiscard]] static const char* family() { return six() ? "ip6" : "ip"; }
    [[nodiscard]] static Frame frame(std::size_t payload = 26, std::uint16_t toPort = 5000) {
        if (six())
            return withPorts(ipv6Frame(station(2), station(1), {.next = 17, .payload = payload}), 4000,
                             toPort);
        return withPorts(ipv4Frame(station(2), station(1), {.payload = payload}), 4000, toPort);
    }
    [[nodiscard]] static Frame answer() {
        if (six())
            return withPorts(
                ipv6Frame(station(1), station(2), {.from = "fd00:0:0:1::2", .to = "fd00::2", .next = 17}),
                5000, 4000);
        return withPorts(ipv4Frame(station(1), station(2), {.from = "10.0.1.2", .to = "10.0.0.2"}), 5000,
                         4000);
    }
    void expect(const Path& path, const Frame& made, unsigned in = 0, unsigned out = 1) {
        EXPECT_EQ(treat(made, in), (Treatment{path, {{out, {made}}}}));
    }
    void expectDropped(const char* reason, const Frame& made) {
        EXPECT_EQ(treat(made), (Treatment{slowPath(reason), {}}));
    }
    void becomesFast() {
        treat(frame());
        expect(fastPath(), frame());
    }
    /// `change` makes the next packet Linux's, which comes out, and then such packets are fast again.
    void expectLearntAgainAfter(const std::function<void()>& change) {
        expect(fastPath(), frame());
        change();
        expect(slowPath("flow-changed"), frame());
        expect(fastPath(), frame());
    }
    static constexpr const char* accepting =
        "table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
        " ct state established,related accept; }; }";
};

TEST_P(BridgedFlows, AreFastFromTheSecondPacketOn) {
    begin(likeDocker(family()));
    for (const unsigned in : {0U, 1U}) {
        const auto made = in == 0 ? frame() : answer();
        expect(slowPath("flow-unknown"), made, in, 1 - in);
        for (int i = 0; i < 3; i++)
            expect(fastPath(), made, in, 1 - in);
    }
    expect(fastPath(), frame(1400));
}

TEST_P(BridgedFlows, AreLinuxsWhenARuleForbidsThem) {
    begin(accepting);
    becomesFast();
    nft("insert rule inet guard forward udp dport 5000 drop");
    expectDropped("ip-netfilter", frame());
    expectDropped("ip-netfilter", frame());
}

/// Usually all frames are decided twice here, and no straight line is gone to its end.
TEST_P(BridgedFlows, AreLinuxsWhenARuleForbidsThemDecidedOnce) {
    config_.kernel.selfCheck = 0;
    begin(accepting);
    becomesFast();
    expectDropped("flow-unknown", frame(26, 5001));
    nft("insert rule inet guard forward udp dport 5000 drop");
    expectDropped("ip-netfilter", frame());
}

TEST_P(BridgedFlows, OfNoConnectionAreDroppedByLinux) {
    begin(accepting);
    becomesFast();
    for (int i = 0; i < 3; i++)
        expectDropped("flow-unknown", frame(26, 5001));
}

TEST_P(BridgedFlows, HaveTheirChecksumsVerified) {
    begin(accepting);
    becomesFast();
    auto damaged = frame(100);
    damaged.bytes.back() ^= 1U;
    expect(fastPath(), frame(100));
    expectDropped("flow-checksum", damaged);
}

/// br_netfilter cuts off what is behind a packet.
TEST_P(BridgedFlows, AreLinuxsWithBytesBehindThem) {
    begin(accepting);
    becomesFast();
    auto padded = frame();
    padded.bytes.insert(padded.bytes.end(), {0, 0});
    EXPECT_EQ(treat(padded), (Treatment{slowPath("flow-kind"), {{1, {frame()}}}}));
}

TEST_P(BridgedFlows, WithAWrongHeaderAreDroppedByLinux) {
    begin(accepting);
    becomesFast();
    auto wrong = frame();
    wrong.bytes.at(six() ? 14 : 24) ^= 0x10U; // the version, or the checksum
    expectDropped("flow-kind", wrong);
}

/// What is larger than the port's MTU is cut into fragments, even if the bridge alone would send it as it is.
TEST_P(BridgedFlows, AreLinuxsWhenTheyAreToBeCut) {
    begin(accepting);
    becomesFast();
    must("ip link set p1 mtu 1400");
    becomesFast();
    const std::size_t largest = 1400 - (six() ? 40 : 20);
    expect(fastPath(), frame(largest));
    for (const std::size_t more : {1U, 4U}) {
        const auto got = treat(frame(largest + more));
        EXPECT_EQ(got.path, slowPath("egress-mtu")) << more;
        EXPECT_EQ(got.out.contains(1) ? got.out.at(1).size() : 0, six() ? 0U : 2U) << more;
    }
}

TEST_P(BridgedFlows, AreLinuxsWhenAPacketIsOfAnotherService) {
    begin(accepting);
    becomesFast();
    auto other = frame();
    other.bytes.at(six() ? 17 : 15) = 8;
    if (!six())
        finishIpv4(other);
    expect(slowPath("flow-changed"), other);
    expect(fastPath(), other);
}

TEST_P(BridgedFlows, KeepTheirTimeToLive) {
    begin(accepting);
    becomesFast();
    auto last = frame();
    last.bytes.at(six() ? 21 : 22) = 1;
    if (!six())
        finishIpv4(last);
    expect(fastPath(), last);
}

/// Nothing is asked while the bridge calls nothing; and what was learnt before holds afterwards.
TEST_P(BridgedFlows, AreAskedAboutWhileTheBridgeCallsRules) {
    begin(accepting);
    becomesFast();
    calls("0");
    expect(fastPath(), frame(26, 5001));
    expect(fastPath(), frame());
    calls("1");
    expectDropped("flow-unknown", frame(26, 5001));
    expect(fastPath(), frame());
    // the other protocol's setting is another one's
    sysctl(six() ? "net.bridge.bridge-nf-call-iptables" : "net.bridge.bridge-nf-call-ip6tables", "0");
    expectDropped("flow-unknown", frame(26, 5001));
    expect(fastPath(), frame());
    calls("1");
    sysctl(six() ? "net.bridge.bridge-nf-call-ip6tables" : "net.bridge.bridge-nf-call-iptables", "0");
    expect(fastPath(), frame(26, 5001));
}

TEST_P(BridgedFlows, AreLearntAgainWhenTheBridgeIsAnotherOneToTheRules) {
    begin(accepting);
    becomesFast();
    expectLearntAgainAfter([] { must("ip link set br0 group 5"); });
}

/// Rules know the ports by their names (physdev).
TEST_P(BridgedFlows, AreLearntAgainWhenTheirPortsAreOthers) {
    begin(accepting);
    becomesFast();
    struct Move {
        unsigned station, to, in, out;
    };
    for (const auto& [moved, to, in, out] : {Move{2, 2, 0, 2}, {2, 1, 0, 1}, {1, 2, 2, 1}}) {
        must(fmt::format("bridge fdb replace {} dev p{} master static", text(station(moved)), to));
        expect(slowPath("flow-changed"), frame(), in, out);
        expect(fastPath(), frame(), in, out);
    }
}

TEST_P(BridgedFlows, AreLearntAgainWhenTheConnectionHasAnotherMark) {
    begin(accepting);
    becomesFast();
    expectLearntAgainAfter([this] { ASSERT_EQ(markConnection(connection_, 7), 0); });
}

/// Where they leave, who looks at a mark would see it.
TEST_P(BridgedFlows, ThatRulesMarkAreLinuxs) {
    begin(std::string(accepting) +
          "; table inet marks { chain c { type filter hook forward priority -1; meta mark"
          " set 7; }; }");
    for (int i = 0; i < 4; i++) {
        pump();
        EXPECT_EQ(treat(frame()), (Treatment{slowPath("flow-unknown"), {{1, {frame()}}}}));
    }
}

/// Whether rules are called depends on tags then.
TEST_P(BridgedFlows, OfOneVlanAmongOthersAreLinuxs) {
    begin(accepting);
    becomesFast();
    if (command({"ip", "link", "set", "br0", "type", "bridge", "vlan_filtering", "1"}).exitCode != 0)
        GTEST_SKIP() << "bridges do not know VLANs here";
    EXPECT_TRUE(eventually([&] {
        pump();
        const auto got = treat(frame());
        EXPECT_EQ(got.path.fast, 0U);
        EXPECT_EQ(got.out, (Arrivals{{1, {frame()}}}));
        return got.path == slowPath("br-netfilter") || HasFailure();
    }));
}

/// Filters see the connection's entry with a packet, which it would not have.
TEST_P(BridgedFlows, AreLinuxsWithFiltersOrQueuesWhereTheyLeave) {
    begin(accepting);
    becomesFast();
    must("tc qdisc add dev p1 clsact");
    expect(fastPath(), frame());
    must("tc filter add dev p1 egress protocol all u32 match u32 0 0 flowid 1:1");
    expect(slowPath("tc"), frame());
    must("tc qdisc del dev p1 clsact");
    expect(fastPath(), frame());
    must("tc qdisc add dev p1 root pfifo limit 10");
    expect(slowPath("egress-qdisc"), frame());
    must("tc qdisc del dev p1 root");
    expect(fastPath(), frame());
}

/// br_netfilter takes the sender's socket off.
TEST_P(BridgedFlows, AreLinuxsWithQueuesThatWouldSeeTheirSenders) {
    if (command({"tc", "qdisc", "add", "dev", "lo", "root", "fq"}).exitCode != 0)
        GTEST_SKIP() << "this kernel has no fq";
    must("tc qdisc del dev lo root");
    begin(accepting);
    becomesFast();
    must("tc qdisc add dev p1 root fq");
    if (GetParam().tcx) {
        expect(slowPath("sender-socket"), frame());
    } else {
        expect(fastPath(), frame());
    }
    must("tc qdisc del dev p1 root");
    expect(fastPath(), frame());
}

/// What a bridge makes of those is left to it.
TEST_P(BridgedFlows, ThatAreTranslatedAreLinuxs) {
    if (six())
        GTEST_SKIP() << "as over IPv4";
    nft("add table ip nat; add chain ip nat c { type nat hook postrouting priority 100; }");
    nft(accepting);
    if (const int error = addConnection(connection_, {.source = "10.0.0.9", .sourcePort = 4000}); error != 0)
        GTEST_SKIP() << "connections cannot be made by hand: " << std::strerror(error);
    accelerate();
    if (IsSkipped())
        return;
    rulesAreKnown();
    const auto other =
        withPorts(ipv4Frame(station(2), station(1), {.from = "10.0.0.9", .payload = 26}), 4000, 5000);
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(treat(frame()), (Treatment{slowPath("flow-unknown"), {{1, {other}}}}));
}

/// Rules may ask for a mark, which stays on what comes from the same namespace.
TEST_P(BridgedFlows, ThatTheirSenderHasMarkedAreLinuxs) {
    must("ip link add s0 type veth peer name s1");
    must("ip link set s1 up");
    must("ip link set s0 master br0 up");
    must("bridge fdb replace " + text(station(7)) + " dev s0 master static");
    begin("table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
          " meta mark 7 drop; ct state established,related accept; }; }");
    if (IsSkipped())
        return;
    ASSERT_TRUE(reaches("s0", "accelerated"));
    auto made = frame();
    std::ranges::copy(station(7), made.bytes.begin() + 6);
    const UniqueFd socket{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
    sockaddr_ll to{};
    to.sll_family = AF_PACKET;
    to.sll_ifindex = static_cast<int>(::if_nametoindex("s1"));
    const auto fast = [&] { return (*controller_->port("s0"))["port"]["fast_packets"].get<std::uint64_t>(); };
    const auto sent = [&](std::uint32_t mark) {
        (void)arrivals();
        ::setsockopt(socket.get(), SOL_SOCKET, SO_MARK, &mark, sizeof(mark));
        EXPECT_GT(::sendto(socket.get(), made.bytes.data(), made.bytes.size(), 0,
                           reinterpret_cast<const sockaddr*>(&to), sizeof(to)),
                  0);
        return arrivals();
    };
    ASSERT_TRUE(eventually([&] { return sent(0) == Arrivals{{1, {made}}}; })) << "the port does not open";
    const auto before = fast();
    EXPECT_EQ(sent(0), (Arrivals{{1, {made}}}));
    EXPECT_EQ(fast(), before + 1);
    EXPECT_EQ(sent(7), Arrivals{});
    EXPECT_EQ(sent(0), (Arrivals{{1, {made}}}));
    EXPECT_EQ(fast(), before + 2);
}

TEST_P(BridgedFlows, OfOtherProtocolsAreLinuxs) {
    begin(accepting);
    becomesFast();
    const auto other = FrameBuilder().ethernet(station(2), station(1)).etherType(0x88b5).raw(46);
    expect(slowPath("br-netfilter"), other);
}

INSTANTIATE_TEST_SUITE_P(Kinds, BridgedFlows,
                         ::testing::Values(Kind{"IPv4", false, false}, Kind{"IPv6", true, false},
                                           Kind{"IPv4AtTcx", false, true}, Kind{"IPv6AtTcx", true, true}),
                         [](const auto& row) { return row.param.name; });

} // namespace
} // namespace tna::test
