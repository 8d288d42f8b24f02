// SPDX-License-Identifier: Apache-2.0
// Packets that are routed at tcx: segments against the MTU, and what a router does to a socket buffer besides
// its bytes. Plain Linux does each first.
#include "bridged_route_fixture.hpp"
#include "support/tap.hpp"
#include "tcx_fixture.hpp"

#include <arpa/inet.h>
#include <bit>
#include <bpf/bpf.h>
#include <cstddef>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <linux/pkt_cls.h>
#include <net/if.h>
#include <type_traits>

namespace tna::test {
namespace {

/// A machine behind tap0, another port of the router: 10.0.9.2.
class TcxSegments : public AtTcx<RouteTest> {
protected:
    void SetUp() override {
        AtTcx::SetUp();
        if (IsSkipped())
            return;
        tap_ = Tap::make("tap0");
        if (!tap_)
            GTEST_SKIP() << "/dev/net/tun cannot be used here";
        must("ip link set tap0 address " + text(portMac(9)) + " up");
        must("ip address add 10.0.9.1/24 dev tap0");
        must("ip neigh replace 10.0.9.2 lladdr " + text(station(10)) + " dev tap0 nud permanent");
        must("ethtool -K p1 gso off tso off tx off sg off");
    }
    /// What comes out for a buffer that is several packets, each with so many bytes of payload.
    [[nodiscard]] Arrivals cut(std::size_t bytes, std::uint16_t segment, std::size_t behind = 0) {
        auto frame =
            ipv4Frame(portMac(9), station(10), {.from = "10.0.9.2", .to = "10.0.1.2", .payload = bytes});
        frame.bytes.resize(frame.bytes.size() + behind);
        (void)arrivals();
        tap_->send(frame, segmentsOfUdp(segment));
        return arrivals();
    }
    [[nodiscard]] nlohmann::json shown() const { return *controller_->port("tap0"); }
    void expectAsLinux(std::size_t bytes, std::uint16_t segment, bool fast) {
        const auto linux = cut(bytes, segment);
        if (!linux.contains(1))
            GTEST_SKIP() << "this kernel does not cut segments of UDP from taps";
        ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
        ASSERT_TRUE(reaches("tap0", "accelerated"));
        EXPECT_EQ(cut(bytes, segment), linux);
        EXPECT_EQ(shown()["port"]["fast_packets"], fast ? 1 : 0);
        if (!fast) {
            EXPECT_EQ(shown()["slow_path"][0]["code"], "route-mtu");
        }
    }

    std::optional<Tap> tap_;
};

TEST_F(TcxSegments, AreWhatIsComparedWithTheMtu) {
    must("ip link set p1 mtu 1028"); // 20 bytes of IP, 8 of UDP
    expectAsLinux(6000, 1000, true);
}

TEST_F(TcxSegments, ThatAreTooLargeAreLinuxs) {
    must("ip link set p1 mtu 1027");
    expectAsLinux(6000, 1000, false);
}

/// Which Linux cuts off, but not this.
TEST_F(TcxSegments, ThatAreFollowedByOtherBytesAreLinuxs) {
    ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
    ASSERT_TRUE(reaches("tap0", "accelerated"));
    ASSERT_TRUE(cut(6000, 1000).contains(1));
    (void)cut(6000, 1000, 5);
    EXPECT_EQ(shown()["port"]["fast_packets"], 1);
}

template <typename Router>
class TcxRouter : public AtTcx<Router> {
protected:
    /// Packets are fast before and after, and come out all the same.
    void expectLinuxsWith(const std::string& set, const std::string& unset, const char* reason) {
        const auto packet = Router::packet();
        const auto arrives = this->treat(packet).out;
        this->expectFast(packet);
        must(set);
        EXPECT_EQ(this->treat(packet), (Treatment{slowPath(reason), arrives}));
        must(unset);
        this->expectFast(packet);
    }
};
using Protocols = ::testing::Types<RouteTest, Route6Test>;
TYPED_TEST_SUITE(TcxRouter, Protocols);

TYPED_TEST(TcxRouter, GenericXdpAtTheOtherEndHasEveryPacket) {
    this->config_.kernel.selfCheck = 0; // which would have another look at each packet
    ASSERT_NO_FATAL_FAILURE(this->accelerateAtTcx());
    if (this->IsSkipped())
        return;
    const auto packet = TypeParam::packet();
    this->expectFast(packet);
    ASSERT_NO_FATAL_FAILURE(this->dropsAll("far1"));
    EXPECT_EQ(this->treat(packet), (Treatment{slowPath("generic-xdp"), {}}));
}

/// They would see what a router takes off, or puts on: the sender's socket, the route, the device.
TYPED_TEST(TcxRouter, ProgramsWhereItLeavesAreLinuxs) {
    ASSERT_NO_FATAL_FAILURE(this->accelerateAtTcx());
    if (this->IsSkipped())
        return;
    must("tc qdisc add dev p1 clsact");
    this->expectLinuxsWith("tc filter add dev p1 egress protocol all u32 match u32 0 0 flowid 1:1",
                           "tc qdisc del dev p1 clsact", "tc");
}

/// LRO: Linux forwards nothing that a card has put together without saying what of (skb_warn_if_lro()).
TYPED_TEST(TcxRouter, WhatACardHasPutTogetherIsLinuxs) {
    ASSERT_NO_FATAL_FAILURE(this->accelerateAtTcx());
    if (this->IsSkipped())
        return;
    const auto packet = TypeParam::packet();
    this->expectFast(packet);
    const auto port = static_cast<int>(::if_nametoindex("p0"));
    __u32 id = 0;
    LIBBPF_OPTS(bpf_prog_query_opts, query, .prog_ids = &id, .prog_cnt = 1);
    ASSERT_EQ(bpf_prog_query_opts(port, std::bit_cast<bpf_attach_type>(46), &query), 0); // BPF_TCX_INGRESS
    const UniqueFd program{bpf_prog_get_fd_by_id(id)};
    const auto verdictOn = [&](__u32 together) {
        __sk_buff buffer{};
        buffer.ifindex = static_cast<__u32>(port);
        buffer.gso_size = together;
        LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = packet.bytes.data(),
                    .data_size_in = static_cast<__u32>(packet.bytes.size()), .ctx_in = &buffer,
                    .ctx_size_in = sizeof buffer);
        EXPECT_EQ(bpf_prog_test_run_opts(program.get(), &run), 0);
        return static_cast<int>(run.retval);
    };
    EXPECT_EQ(verdictOn(0), 7); // TC_ACT_REDIRECT
    EXPECT_EQ(verdictOn(500), TC_ACT_UNSPEC);
}

/// Frames in these tests come from sockets of this machine, which most queues do not look at.
TYPED_TEST(TcxRouter, QueuesThatLookAtNoSocketAreNoMatter) {
    ASSERT_NO_FATAL_FAILURE(this->accelerateAtTcx());
    if (this->IsSkipped())
        return;
    must("tc qdisc add dev p1 root pfifo_fast");
    this->expectFast(TypeParam::packet());
    this->expectFast(TypeParam::packet());
}

TYPED_TEST(TcxRouter, SendersWhoseSocketAQueueWouldSeeAreLinuxs) {
    if (command({"tc", "qdisc", "add", "dev", "lo", "root", "fq"}).exitCode != 0)
        GTEST_SKIP() << "this kernel has no fq";
    must("tc qdisc del dev lo root");
    ASSERT_NO_FATAL_FAILURE(this->accelerateAtTcx());
    if (this->IsSkipped())
        return;
    this->expectLinuxsWith("tc qdisc add dev p1 root fq", "tc qdisc del dev p1 root", "sender-socket");
}

/// What asks when its packets leave would be told twice.
TYPED_TEST(TcxRouter, SendersThatAskWhenTheirPacketsLeaveAreLinuxs) {
    ASSERT_NO_FATAL_FAILURE(this->accelerateAtTcx());
    if (this->IsSkipped())
        return;
    const auto packet = TypeParam::packet();
    this->expectFast(packet);
    UniqueFd socket;
    {
        const auto inside = this->farSide_->enter();
        socket = UniqueFd{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL))};
        sockaddr_ll address{};
        address.sll_family = AF_PACKET;
        address.sll_protocol = htons(ETH_P_ALL);
        address.sll_ifindex = static_cast<int>(::if_nametoindex("far0"));
        ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
    const auto fastAfterOneMore = [&] {
        const auto fast = [&] {
            return (*this->controller_->port("p0"))["port"]["fast_packets"].template get<int>();
        };
        const int before = fast();
        EXPECT_EQ(::send(socket.get(), packet.bytes.data(), packet.bytes.size(), 0),
                  static_cast<ssize_t>(packet.bytes.size()));
        EXPECT_TRUE(this->arrivals().contains(1));
        return fast() - before;
    };
    EXPECT_EQ(fastAfterOneMore(), 1);
    const int asks = SOF_TIMESTAMPING_TX_SOFTWARE;
    ASSERT_EQ(::setsockopt(socket.get(), SOL_SOCKET, SO_TIMESTAMPING, &asks, sizeof asks), 0);
    EXPECT_EQ(fastAfterOneMore(), 0);
}

/// A capture whose filter notes how urgent the last frame was that left.
class Noting {
public:
    explicit Noting(const char* port)
        : map_(bpf_map_create(BPF_MAP_TYPE_ARRAY, "noted", sizeof(__u32), sizeof(__u32), 1, nullptr)),
          socket_(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL))) {
        constexpr auto type = static_cast<std::int16_t>(offsetof(__sk_buff, pkt_type));
        constexpr auto priority = static_cast<std::int16_t>(offsetof(__sk_buff, priority));
        const bpf_insn code[] = {
            {.code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 6, .src_reg = 1, .off = type, .imm = 0},
            {.code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 7, .src_reg = 1, .off = priority, .imm = 0},
            {.code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 6, .src_reg = 0, .off = 8, .imm = PACKET_OUTGOING},
            {.code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = 10, .src_reg = 0, .off = -4, .imm = 0},
            {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 2, .src_reg = 10, .off = 0, .imm = 0},
            {.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 2, .src_reg = 0, .off = 0, .imm = -4},
            {.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1, .src_reg = 1, .off = 0, .imm = map_.get()},
            {.code = 0, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0},
            {.code = BPF_JMP | BPF_CALL, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 1}, // lookup
            {.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 1, .imm = 0},
            {.code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = 0, .src_reg = 7, .off = 0, .imm = 0},
            {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0},
            {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
        const UniqueFd program{
            bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "notes", "GPL", code, std::size(code), nullptr)};
        const int fd = program.get();
        EXPECT_EQ(::setsockopt(socket_.get(), SOL_SOCKET, SO_ATTACH_BPF, &fd, sizeof fd), 0);
        sockaddr_ll address{};
        address.sll_family = AF_PACKET;
        address.sll_protocol = htons(ETH_P_ALL);
        address.sll_ifindex = static_cast<int>(::if_nametoindex(port));
        EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
    [[nodiscard]] __u32 last() const {
        const __u32 zero = 0;
        __u32 noted = ~0U;
        EXPECT_EQ(bpf_map_lookup_elem(map_.get(), &zero, &noted), 0);
        return noted;
    }

private:
    UniqueFd map_;
    UniqueFd socket_;
};

/// A sender of this namespace, behind a veth that takes nothing off.
TYPED_TEST(TcxRouter, MarksThatRoutingAsksForAreLinuxs) {
    const bool six = std::is_same_v<TypeParam, Route6Test>;
    const std::string ip = six ? "ip -6 " : "ip ";
    must("ip link add q1 type veth peer name q0");
    must("ip link set q1 address " + text(this->portMac(0)) + " up");
    must("ip link set q0 up");
    this->becomes("q1", 9);
    must(ip + "rule add fwmark 7 lookup 100");
    must(ip + "route add default via " + (six ? "fd00:0:0:2::2" : "10.0.2.2") + " table 100");
    ASSERT_NO_FATAL_FAILURE(this->accelerateAtTcx());
    if (this->IsSkipped())
        return;
    ASSERT_TRUE(this->reaches("q1", "accelerated")) << *this->controller_->port("q1");
    const auto packet = TypeParam::packet();
    const UniqueFd socket{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
    sockaddr_ll to{};
    to.sll_family = AF_PACKET;
    to.sll_ifindex = static_cast<int>(::if_nametoindex("q0"));
    const auto fast = [&] {
        return (*this->controller_->port("q1"))["port"]["fast_packets"].template get<int>();
    };
    const auto outOf = [&](std::uint32_t mark) {
        (void)this->arrivals();
        ::setsockopt(socket.get(), SOL_SOCKET, SO_MARK, &mark, sizeof mark);
        EXPECT_GT(::sendto(socket.get(), packet.bytes.data(), packet.bytes.size(), 0,
                           reinterpret_cast<const sockaddr*>(&to), sizeof to),
                  0);
        const auto all = this->arrivals();
        return all.contains(1) ? 1 : all.contains(2) ? 2 : 0;
    };
    ASSERT_TRUE(eventually([&] { return outOf(0) == 1 && fast() > 0; }));
    const int before = fast();
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(outOf(7), 2);
        EXPECT_EQ(fast(), before + i);
        EXPECT_EQ(outOf(0), 1);
    }
    EXPECT_EQ(fast(), before + 3);
    // Nobody asks.
    must(ip + "rule del fwmark 7");
    EXPECT_EQ(outOf(7), 1);
}

/// The bridge takes the frame for one of another station's, if its own address is not the port's.
class TcxFromBridge : public AtTcx<FromBridge> {};

TEST_F(TcxFromBridge, FramesAreAsUrgentAsTheySay) {
    std::map<unsigned, __u32> linux;
    const Noting noting("p1");
    const auto about = [](unsigned tos) { return packet({.tos = static_cast<std::uint8_t>(tos)}); };
    const std::vector<unsigned> kinds{0, 0x02, 0x08, 0x10, 0x18, 0xb8, 0xe0};
    for (const auto tos : kinds) {
        ASSERT_EQ(treat(about(tos)).out, routedTo(about(tos)));
        linux[tos] = noting.last();
    }
    EXPECT_EQ(linux[0x10], 6U);
    ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
    for (const auto tos : kinds) {
        EXPECT_EQ(treat(about(tos)), (Treatment{fastPath(), routedTo(about(tos))}));
        EXPECT_EQ(noting.last(), linux[tos]) << tos;
    }
    sysctl("net.ipv4.ip_forward_update_priority", "0");
    EXPECT_EQ(treat(about(0x10)), (Treatment{fastPath(), routedTo(about(0x10))}));
    EXPECT_EQ(noting.last(), 0U);
}

TEST_F(TcxFromBridge, ProgramsBehindOursAndOnesOfTheBridgeAreLinuxs) {
    ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
    expectFast(packet());
    for (const char* device : {"p0", "br0"}) {
        must(std::string("tc qdisc add dev ") + device + " clsact");
        expectFast(packet());
        must(std::string("tc filter add dev ") + device +
             " ingress protocol all u32 match u32 0 0 flowid 1:1");
        EXPECT_EQ(treat(packet()), (Treatment{slowPath("tc"), routedTo(packet())})) << device;
        must(std::string("tc qdisc del dev ") + device + " clsact");
        expectFast(packet());
    }
}

} // namespace
} // namespace tna::test
