// SPDX-License-Identifier: Apache-2.0
// Flows that are routed by rules (`ip rule`), and marks that rule sets put on packets for them.
#include "connections_fixture.hpp"
#include "nat_fixture.hpp"

#include <array>
#include <bpf/bpf.h>
#include <cerrno>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#ifndef SO_RCVMARK
#define SO_RCVMARK 75
#endif

namespace tna::test {
namespace {

constexpr const char* marks = "table inet marks { chain before { type filter hook prerouting priority -150;"
                              " udp dport 5000 meta mark set 1; }; }";
constexpr const char* noMarks = "add chain inet marks after { type filter hook postrouting priority 300; };"
                                " add rule inet marks after meta mark set 0";

/// Table 7 leads to another host behind p1.
class RoutedByMark : public ConnectionsTest {
protected:
    static constexpr unsigned other = 9;

    void SetUp() override {
        ConnectionsTest::SetUp();
        if (IsSkipped())
            return;
        must("ip neigh replace 10.0.1.3 lladdr " + text(station(other)) + " dev p1 nud permanent");
        must("ip route add default via 10.0.1.3 table 7");
    }
    static Arrivals toOther(const Frame& frame) {
        return {{1, {oneHopFurther(frame, station(other), portMac(1))}}};
    }
    /// What comes next is Linux's, and fast from then on.
    void expectChanged(const Arrivals& out, const Frame& frame = forth()) {
        EXPECT_EQ(treat(frame), (Treatment{slowPath("flow-changed"), out}));
        for (int i = 0; i < 3; i++)
            EXPECT_EQ(treat(frame), (Treatment{fastPath(), out}));
    }
    /// While rules are being judged anew, more than one is Linux's.
    void expectAtLast(const Arrivals& out, const Frame& frame = forth()) {
        rulesAreKnown();
        EXPECT_EQ(treat(frame), (Treatment{slowPath("flow-changed"), out}));
        for (int i = 0; i < 3; i++)
            EXPECT_EQ(treat(frame), (Treatment{fastPath(), out}));
    }
};

TEST_F(RoutedByMark, FlowsGoWhereRoutingRulesSendThem) {
    begin();
    learned();
    must("ip route replace default via 10.0.2.2 table 7");
    must("ip rule add iif p0 lookup 7");
    expectChanged(routedTo(forth(), 2));
    must("ip rule del iif p0 lookup 7");
    expectChanged(routedTo(forth()));
}

TEST_F(RoutedByMark, MarksMatterWhereRoutingRulesAskForThem) {
    begin(fmt::format("{}; {}", rules, marks));
    learned();
    expectFast(forth());
    must("ip rule add fwmark 1 lookup 7");
    expectChanged(toOther(forth()));
    must("ip rule add fwmark 1 lookup main prio 9");
    expectChanged(routedTo(forth()));
    must("ip rule del fwmark 1 lookup main prio 9");
    expectChanged(toOther(forth()));
    must("ip rule del fwmark 1 lookup 7");
    expectChanged(routedTo(forth()));
    must("ip rule add fwmark 3 lookup 7");
    expectChanged(routedTo(forth()));
    must("ip rule add fwmark 0x11/0xf lookup 7");
    expectChanged(toOther(forth()));
    must("ip rule del fwmark 0x11/0xf lookup 7");
    must("ip rule add not fwmark 1/3 lookup 7");
    expectChanged(routedTo(forth()));
    must("ip rule add not fwmark 2/6 lookup 7");
    expectChanged(toOther(forth()));
}

/// Nobody sees it where flows are learnt.
TEST_F(RoutedByMark, MarksThatAreTakenOffAgain) {
    begin(fmt::format("{}; {}; {}", rules, marks, noMarks));
    must("ip rule add fwmark 1 lookup 7");
    EXPECT_EQ(treat(forth()), (Treatment{slowPath("flow-unknown"), toOther(forth())}));
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(treat(forth()), (Treatment{fastPath(), toOther(forth())}));
}

TEST_F(RoutedByMark, MarksThatComeAndGo) {
    begin();
    must("ip rule add fwmark 1 lookup 7");
    learned();
    expectFast(forth());
    nft(marks);
    expectAtLast(toOther(forth()));
    nft(noMarks);
    expectAtLast(toOther(forth()));
    nft("delete table inet marks");
    expectAtLast(routedTo(forth()));
}

/// A mark that is put on behind routing is none that routing rules see.
TEST_F(RoutedByMark, MarksThatArePutOnLater) {
    begin(fmt::format("{}; table ip later {{ chain forward {{ type filter hook forward priority -1;"
                      " meta mark set 1; }}; }}",
                      rules));
    must("ip rule add fwmark 1 lookup 7");
    learned();
    for (int i = 0; i < 3; i++)
        expectFast(forth());
}

/// Behind those that learn, at the last place of all: nobody sees it.
TEST_F(RoutedByMark, MarksThatArePutOnLast) {
    begin(fmt::format("{}; table inet marks {{ chain last {{ type filter hook prerouting priority 2147483647;"
                      " udp dport 5000 meta mark set 1; }}; }}",
                      rules));
    must("ip rule add fwmark 1 lookup 7");
    for (int i = 0; i < 3; i++) {
        const auto treated = treat(forth());
        EXPECT_EQ(treated.path.fast, 0U);
        EXPECT_EQ(treated.out, toOther(forth()));
    }
}

/// The same addresses, and one place in the cache of routes.
TEST_F(RoutedByMark, FlowsBetweenTheSameHostsGoEachTheirWay) {
    const auto plain = forth({}, 5001);
    begin(fmt::format("{}; {}", rules, marks));
    ASSERT_EQ(addConnection({.toPort = 5001}), 0);
    must("ip rule add fwmark 1 lookup 7");
    EXPECT_EQ(treat(forth()), (Treatment{slowPath("flow-unknown"), toOther(forth())}));
    EXPECT_EQ(treat(plain), (Treatment{slowPath("flow-unknown"), routedTo(plain)}));
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ(treat(forth()), (Treatment{fastPath(), toOther(forth())}));
        EXPECT_EQ(treat(plain), (Treatment{fastPath(), routedTo(plain)}));
        EXPECT_EQ(treat(plain), (Treatment{fastPath(), routedTo(plain)}));
    }
}

/// As routers with several providers have it.
TEST_F(RoutedByMark, MarksOfConnectionsThatPacketsGet) {
    begin(fmt::format("{}; table ip marks {{ chain before {{ type filter hook prerouting priority -150;"
                      " ct state new ct mark set 1; meta mark set ct mark; }}; }}",
                      rules));
    must("ip rule add fwmark 1 lookup 7");
    EXPECT_EQ(treat(forth()), (Treatment{slowPath("flow-unknown"), routedTo(forth())}));
    // Only of the second packet is it certain which mark the rules have seen.
    EXPECT_EQ(treat(forth()), (Treatment{slowPath("flow-refresh"), routedTo(forth())}));
    expectFast(forth());
    ASSERT_EQ(markConnection(connection_, 1), 0);
    expectChanged(toOther(forth()));
    ASSERT_EQ(markConnection(connection_, 2), 0);
    expectChanged(routedTo(forth()));
}

/// Linux looks for the way back by the mark then.
TEST_F(RoutedByMark, MarksThatSourcesAreFoundByAreLinuxs) {
    begin(fmt::format("{}; {}", rules, marks));
    must("ip rule add fwmark 1 lookup 7");
    EXPECT_EQ(treat(forth()), (Treatment{slowPath("flow-unknown"), toOther(forth())}));
    EXPECT_EQ(treat(forth()), (Treatment{fastPath(), toOther(forth())}));
    for (const auto* device : {"all", "p0"}) {
        const auto setting = fmt::format("net.ipv4.conf.{}.src_valid_mark", device);
        sysctl(setting, "1");
        EXPECT_EQ(treat(forth()), (Treatment{slowPath("marked"), toOther(forth())}));
        sysctl(setting, "0");
        EXPECT_EQ(treat(forth()), (Treatment{fastPath(), toOther(forth())}));
    }
}

/// Strictly by the device that a packet comes by, and its mark does not matter.
TEST_F(RoutedByMark, TheWayBackIsFoundWithoutMarks) {
    sysctl("net.ipv4.conf.p0.rp_filter", "1");
    begin(fmt::format("{}; {}", rules, marks));
    must("ip route add 10.0.0.0/24 dev p2 table 7");
    must("ip rule add fwmark 1 lookup 7");
    EXPECT_EQ(treat(forth()), (Treatment{slowPath("flow-unknown"), toOther(forth())}));
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(treat(forth()), (Treatment{fastPath(), toOther(forth())}));
}

/// A filter puts the mark on, of whose changes nobody is told: rules have seen another packet than those that
/// come without one.
class MarkedByFilters : public ConnectionsTest {
protected:
    /// The words of a chain that is called before connection tracking, and of one at forward.
    void begin(const std::string& before, const std::string& forward) {
        ConnectionsTest::begin(
            fmt::format("table inet guard {{ chain before {{ type filter hook prerouting priority raw; {} }};"
                        " chain forward {{ type filter hook forward priority 0; policy drop; {} }}; }}",
                        before, forward));
    }
    static UniqueFd marking(const char* port) {
        const bpf_insn code[] = {
            {.code = BPF_ST | BPF_MEM | BPF_W,
             .dst_reg = 1,
             .src_reg = 0,
             .off = offsetof(__sk_buff, mark),
             .imm = 5},
            {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = -1},
            {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
        const UniqueFd program{bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "marking", "GPL", code, 3, nullptr)};
        constexpr auto tcxIngress = static_cast<bpf_attach_type>(46);
        return UniqueFd{
            bpf_link_create(program.get(), static_cast<int>(if_nametoindex(port)), tcxIngress, nullptr)};
    }
    void expectNoLesson() {
        EXPECT_EQ(treat(forth()).out, Arrivals{});
        auto filter = marking("p0");
        if (!filter)
            GTEST_SKIP() << "this kernel has no tcx";
        for (int i = 0; i < 4; i++)
            EXPECT_EQ(treat(forth()).out, routedTo(forth()));
        filter.reset();
        for (int i = 0; i < 2; i++)
            EXPECT_EQ(treat(forth()).out, Arrivals{});
    }
};

TEST_F(MarkedByFilters, WhatIsTrackedIsNotLearnt) {
    begin("", "ct state established meta mark 5 accept;");
    expectNoLesson();
}

TEST_F(MarkedByFilters, WhatIsExemptIsNotLearnt) {
    begin("meta mark 5 udp dport 5000 notrack;", "ct state untracked accept;");
    expectNoLesson();
}

/// A veth whose other end lies in the same namespace, where packets keep their marks.
class MarkedWithin : public ConnectionsTest {
protected:
    void SetUp() override {
        ConnectionsTest::SetUp();
        if (IsSkipped())
            return;
        must("ip link add s0 type veth peer name s1");
        must("ip link set s1 up");
        must("ip link set s0 up");
        must("ethtool -K s1 gro on");
        must("ip address add 10.0.7.1/24 dev s0");
        must("ip neigh replace 10.0.7.2 lladdr " + text(station(7)) + " dev s0 nud permanent");
        connection_.to = "10.0.7.2";
        socket_ = UniqueFd{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
        const int one = 1;
        if (::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVMARK, &one, sizeof(one)) != 0)
            GTEST_SKIP() << "this kernel does not tell of marks";
        sockaddr_ll address{};
        address.sll_family = AF_PACKET;
        address.sll_protocol = htons(ETH_P_IP);
        address.sll_ifindex = static_cast<int>(::if_nametoindex("s1"));
        ASSERT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    }
    /// The mark of the packet that has come last; none has, if there is none.
    [[nodiscard]] std::optional<std::uint32_t> markOfLast() const {
        std::optional<std::uint32_t> mark;
        std::array<std::uint8_t, 2048> bytes{};
        std::array<char, CMSG_SPACE(sizeof(std::uint32_t))> control{};
        iovec part{bytes.data(), bytes.size()};
        for (;;) {
            msghdr message{};
            message.msg_iov = &part;
            message.msg_iovlen = 1;
            message.msg_control = control.data();
            message.msg_controllen = control.size();
            if (::recvmsg(socket_.get(), &message, MSG_DONTWAIT) < 0)
                return mark;
            mark = 0;
            for (auto* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one))
                if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SO_MARK)
                    std::memcpy(&*mark, CMSG_DATA(one), sizeof(*mark));
        }
    }

    UniqueFd socket_;
};

TEST_F(MarkedWithin, PacketsKeepTheirMarks) {
    const auto packet = forth({.to = "10.0.7.2"});
    begin(fmt::format("{}; {}", rules, marks));
    if (IsSkipped())
        return;
    ASSERT_TRUE(reaches("s0", "accelerated"));
    ASSERT_TRUE(eventually([&] {
        (void)treat(packet);
        return markOfLast() == 1U;
    }));
    const bool within = std::getenv("TNA_TEST_HOOK") != nullptr;
    EXPECT_EQ(treat(packet).path, within ? fastPath() : slowPath("marked"));
    EXPECT_EQ(markOfLast(), 1U);
    nft(noMarks);
    rulesAreKnown();
    (void)treat(packet);
    EXPECT_EQ(markOfLast(), 0U);
    EXPECT_EQ(treat(packet).path, fastPath());
    EXPECT_EQ(markOfLast(), 0U);
}

/// Only table 7 leads to the destination, by whatever device it lies behind.
template <typename Router>
class MarkedWays : public Ways<Router> {
protected:
    using Ways<Router>::six;

    std::string rules() override { return fmt::format("{}; {}", Ways<Router>::rules(), marks); }
    void beforehand() override {
        const std::string ip = fmt::format("ip {} ", version), to = six ? "fd00:0:0:1::2" : "10.0.1.2";
        const auto found = command({"ip", version, "-o", "route", "get", to}).output;
        const auto begins = found.find(" dev ") + 5;
        must(fmt::format("{}route add {} dev {} table 7", ip, to,
                         found.substr(begins, found.find(' ', begins) - begins)));
        must(fmt::format("{}route add blackhole {}", ip, to));
        must(fmt::format("{}rule add fwmark 1 lookup 7", ip));
    }
    static constexpr const char* version = six ? "-6" : "-4";
};
TYPED_TEST_SUITE(MarkedWays, Routers);

TYPED_TEST(MarkedWays, AreFoundByTheirMark) {
    this->expect(slowPath("flow-unknown"), this->forth());
    for (int i = 0; i < 3; i++)
        this->expect(fastPath(), this->forth());
    must(fmt::format("ip {} rule del fwmark 1 lookup 7", this->version));
    const auto treated = this->treated(this->forth(), 0);
    EXPECT_EQ(treated.path.fast, 0U);
    EXPECT_EQ(treated.out, Arrivals{});
    must(fmt::format("ip {} rule add fwmark 1 lookup 7", this->version));
    EXPECT_TRUE(eventually([&] { return this->treated(this->forth(), 0).path == fastPath(); }));
    this->expect(fastPath(), this->forth());
}

/// What rules put on packets, and what connection tracking puts into them.
template <typename Router>
class MarkedAndTranslated : public TranslatedOf<Router, anotherSource | anotherDestination> {
protected:
    using Base = TranslatedOf<Router, anotherSource | anotherDestination>;
    using Base::six;

    std::string rules() override {
        return fmt::format(
            "{}; table inet marks {{ chain before {{ type filter hook prerouting priority -150;"
            " udp dport 80 meta mark set 1; }}; }}",
            Base::rules());
    }
    void beforehand() override {
        const std::string ip = six ? "ip -6 " : "ip ", to = six ? "fd00:0:0:1::2" : "10.0.1.2";
        must(fmt::format("{}route add {} dev p1 table 7", ip, to));
        must(fmt::format("{}route add blackhole {}", ip, to));
        must(fmt::format("{}rule add fwmark 1 lookup 7", ip));
        const auto out = this->treated(Base::sent(0), 0).out;
        EXPECT_TRUE(out.contains(1));
        this->asked_.push_back({Base::sent(0), 0, out});
    }
};
using PlainRouters = ::testing::Types<RouteTest, Route6Test>;
TYPED_TEST_SUITE(MarkedAndTranslated, PlainRouters);

TYPED_TEST(MarkedAndTranslated, AreFast) {
    EXPECT_EQ(this->treated(this->sent(0), 0).path, slowPath("flow-unknown"));
    for (int i = 0; i < 3; i++)
        this->expectAllAsAsked();
}

} // namespace
} // namespace tna::test
