// SPDX-License-Identifier: Apache-2.0
#include "route_fixture.hpp"

#include "support/kernel.hpp"
#include "support/listening.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <ifaddrs.h>
#include <iostream>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <set>
#include <sys/socket.h>

namespace tna::test {

namespace {
/// What a frame says that it carries, behind so many bytes of tags.
unsigned etherType(const Frame& frame, std::size_t behind = 0) {
    return static_cast<unsigned>(frame.bytes.at(12 + behind)) << 8U | frame.bytes.at(13 + behind);
}
} // namespace

void RouteTest::SetUp() {
    makePorts();
    if (IsSkipped())
        return;
    sysctl("net.ipv4.conf.all.rp_filter", "0");
    // As many answers as there are questions, however fast they come.
    sysctl("net.ipv4.icmp_ratelimit", "0");
    sysctl("net.ipv4.icmp_ratemask", "0");
    for (unsigned i = 0; i < 3; i++) {
        const auto port = "p" + std::to_string(i);
        must("ip link set " + port + " address " + text(portMac(i)));
        RouteTest::becomes(port, i);
    }
    sysctl("net.ipv4.ip_forward", "1");
    routesAtLast();
}

void RouteTest::knows(const std::string& device, unsigned number) {
    must("ip neigh replace 10.0." + std::to_string(number) + ".2 lladdr " + text(station(number + 1)) +
         " dev " + device + " nud permanent");
}

void RouteTest::becomes(const std::string& device, unsigned number) {
    must("ip address add 10.0." + std::to_string(number) + ".1/24 dev " + device);
    knows(device, number);
    must("sysctl -qw net/ipv4/conf/" + device + "/rp_filter=0");
}

void RouteTest::routesAtLast(const Frame& frame) {
    ASSERT_TRUE(eventually([&] { return treat(frame).out == routedTo(frame); }, std::chrono::seconds(20)))
        << "nothing is routed";
}

void RouteTest::inOneRun(const std::vector<std::string>& lines, const std::string& ip) {
    char file[] = "/tmp/tna-batch-XXXXXX";
    const UniqueFd opened{::mkstemp(file)};
    ASSERT_TRUE(opened);
    std::ofstream out(file);
    for (const auto& line : lines)
        out << line << "\n";
    out.close();
    must(ip + "-batch " + file);
    ::unlink(file);
}

UniqueFd RouteTest::capture(const char* interface, int protocol) {
    UniqueFd fd{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(static_cast<std::uint16_t>(protocol));
    address.sll_ifindex = interface == nullptr ? 0 : static_cast<int>(::if_nametoindex(interface));
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return fd;
}

void RouteTest::whileItDropsAll(const char* device, const std::function<void()>& something) {
    const bpf_insn drop[] = {
        {.code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = XDP_DROP},
        {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
    const UniqueFd program{bpf_prog_load(BPF_PROG_TYPE_XDP, "drops_all", "GPL", drop, 2, nullptr)};
    ASSERT_TRUE(program);
    const auto ifindex = static_cast<int>(::if_nametoindex(device));
    // A link: unlike what netlink attaches, no generation of the kernel's tells of it.
    DECLARE_LIBBPF_OPTS(bpf_link_create_opts, generic, .flags = XDP_FLAGS_SKB_MODE);
    const UniqueFd link{bpf_link_create(program.get(), ifindex, BPF_XDP, &generic)};
    ASSERT_TRUE(link);
    something();
}

void RouteTest::expectCapturesToSee(const Frame& frame, int protocol) {
    struct Case {
        const char* interface;
        int protocol;
        unsigned times;
    };
    for (const auto& [interface, wanted, times] :
         {Case{nullptr, ETH_P_ALL, 2}, Case{"p0", ETH_P_ALL, 1}, Case{"p1", ETH_P_ALL, 1},
          Case{nullptr, protocol, 1}, Case{"p0", protocol, 1}}) {
        SCOPED_TRACE(fmt::format("{} {:#x}", interface == nullptr ? "all" : interface, wanted));
        auto socket = capture(interface, wanted);
        EXPECT_EQ(treat(frame), (Treatment{slowPath("capture"), routedTo(frame)}));
        std::array<char, 2048> buffer{};
        for (unsigned i = 0; i < times; i++)
            EXPECT_GT(::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT), 0);
        socket.reset();
        expectFast(frame);
    }
}

void RouteTest::expectSocketsOfOthersNotToMatter(const Frame& frame, int protocol) {
    constexpr unsigned most = 16; // that are looked at
    expectFast(frame);
    std::vector<UniqueFd> sockets;
    for (const char* interface : {"p0", static_cast<const char*>(nullptr), "p1"})
        for (const int other : {ETH_P_LLDP, ETH_P_ARP, ETH_P_PAE, 0}) {
            SCOPED_TRACE(fmt::format("{} {:#x}", interface == nullptr ? "all" : interface, other));
            sockets.push_back(capture(interface, other));
            EXPECT_EQ(treat(frame), (Treatment{fastPath(), routedTo(frame)}));
        }
    // New ones come to be the first of some lists, and the last of others.
    for (const char* interface : {"p0", static_cast<const char*>(nullptr)}) {
        SCOPED_TRACE(interface == nullptr ? "all" : interface);
        const auto socket = capture(interface, protocol);
        const auto behind = capture(interface, ETH_P_LLDP);
        EXPECT_EQ(treat(frame), (Treatment{slowPath("capture"), routedTo(frame)}));
        std::array<char, 2048> buffer{};
        EXPECT_GT(::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT), 0);
    }
    expectFast(frame);
    for (unsigned i = 0; i < most; i++)
        sockets.push_back(capture("p0", ETH_P_LLDP));
    EXPECT_EQ(treat(frame), (Treatment{slowPath("capture"), routedTo(frame)})) << "too many";
    sockets.clear();
    expectFast(frame);
    // Before 6.15 all of the namespace are looked at, wherever they are.
    constexpr unsigned mostOfAll = 64;
    for (unsigned i = 0; i < mostOfAll; i++)
        sockets.push_back(capture("p2", ETH_P_LLDP));
    EXPECT_EQ(treat(frame).path, kernelIsOlderThan(6, 15) ? slowPath("capture") : fastPath());
    sockets.clear();
    expectFast(frame);
}

void RouteTest::expectListenersNotToMatter(const Frame& frame, int protocol,
                                           const std::optional<Frame>& wanted) {
    for (const char* interface : {"p0", "p1", static_cast<const char*>(nullptr)})
        for (const int those : {ETH_P_ALL, protocol}) {
            SCOPED_TRACE(fmt::format("{} {:#x}", interface == nullptr ? "all" : interface, those));
            const auto socket = capture(interface, those);
            filterBy(socket.get(), udpFor(68));
            controller_->onTick();
            EXPECT_EQ(treat(frame), (Treatment{fastPath(), routedTo(frame)}));
            EXPECT_FALSE(hears(socket.get()));
            if (wanted) {
                EXPECT_EQ(treat(*wanted), (Treatment{slowPath("capture"), routedTo(*wanted)}));
            }
            while (hears(socket.get())) {
            }
            for (const auto& filter : {lldp(), dhcpcd(), dhcpcdArp()}) {
                filterBy(socket.get(), filter);
                controller_->onTick();
                EXPECT_EQ(treat(frame), (Treatment{fastPath(), routedTo(frame)}));
                EXPECT_FALSE(hears(socket.get()));
            }
        }
}

void RouteTest::expectAllTo(const std::vector<Condition>& conditions,
                            const std::function<Arrivals(const Frame&)>& usually) {
    std::vector<std::pair<Condition, Arrivals>> possible;
    std::set<std::string> prepared;
    for (const auto& condition : conditions) {
        SCOPED_TRACE(condition.name);
        if (std::ranges::any_of(condition.prepare, [&](const auto& words) {
                return prepared.insert(words).second && command({"sh", "-c", words}).exitCode != 0;
            })) {
            std::cout << "not to be had here: " << condition.name << "\n";
            continue;
        }
        run(condition.set);
        possible.emplace_back(condition, treat(condition.frame).out);
        run(condition.unset);
        ASSERT_EQ(treat(condition.frame).out, usually(condition.frame));
    }
    accelerate();
    for (const auto& [condition, linux] : possible) {
        SCOPED_TRACE(condition.name);
        if (IsSkipped())
            return;
        const Treatment usual{fastPath(), usually(condition.frame)};
        const auto afterChange = [&] {
            if (condition.linuxHasFirst)
                (void)treat(condition.frame);
        };
        afterChange();
        EXPECT_EQ(treat(condition.frame), usual) << "before";
        run(condition.set);
        afterChange();
        EXPECT_EQ(treat(condition.frame),
                  (Treatment{condition.reason.empty() ? fastPath() : slowPath(condition.reason), linux}));
        run(condition.unset);
        afterChange();
        EXPECT_EQ(treat(condition.frame), usual) << "afterwards";
    }
}

std::uint64_t RouteTest::expectEachAsLinux(const std::vector<Frame>& frames) {
    std::vector<Arrivals> linux;
    for (const auto& frame : frames)
        linux.push_back(treat(frame).out);
    accelerate();
    std::uint64_t fast = 0;
    for (std::size_t i = 0; i < frames.size() && !IsSkipped(); i++) {
        const auto treated = treat(frames[i]);
        EXPECT_EQ(treated.out, linux[i]) << "for " << ::testing::PrintToString(frames[i]);
        fast += treated.path.fast;
    }
    return fast;
}

namespace {
/// That devices of the calling thread's namespace have.
std::set<std::uint32_t> ownAddresses() {
    std::set<std::uint32_t> found;
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0)
        return found;
    for (const auto* one = all; one != nullptr; one = one->ifa_next)
        if (one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET)
            found.insert(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr);
    ::freeifaddrs(all);
    return found;
}
} // namespace

/// Of ICMP that the router makes, without the number that it draws by chance; what it forwards stays as it
/// is, to the last bit of a checksum.
Arrivals RouteTest::arrivals() {
    auto found = BridgeTest::arrivals();
    constexpr std::size_t protocol = 14 + 9, source = 14 + 12;
    constexpr std::uint8_t icmp = 1;
    const auto own = ownAddresses();
    for (auto& [port, frames] : found)
        for (auto& frame : frames) {
            if (frame.bytes.size() <= 34 || etherType(frame) != ETH_P_IP || frame.bytes[protocol] != icmp)
                continue;
            std::uint32_t from = 0;
            std::memcpy(&from, &frame.bytes[source], sizeof(from));
            auto right = frame;
            finishIpv4(right);
            if (!own.contains(from) || right != frame)
                continue;
            frame.bytes[18] = frame.bytes[19] = 0;
            finishIpv4(frame);
        }
    return found;
}

void Route6Test::SetUp() {
    RouteTest::SetUp();
    if (IsSkipped())
        return;
    if (command({"sysctl", "-n", "net.ipv6.conf.all.forwarding"}).exitCode != 0)
        GTEST_SKIP() << "this kernel has no IPv6";
    sysctl("net.ipv4.ip_forward", "0");
    sysctl("net.ipv6.icmp.ratemask", "0"); // as many answers as there are questions
    // What has no device of its own has this one.
    must("sysctl -qw net.ipv6.conf.lo.disable_ipv6=0");
    must("ip link set lo up");
    for (unsigned i = 0; i < 3; i++)
        becomes("p" + std::to_string(i), i);
    sysctl("net.ipv6.conf.all.forwarding", "1");
    routesAtLast();
}

void Route6Test::becomes(const std::string& device, unsigned number) {
    const auto network = "fd00:0:0:" + std::to_string(number) + "::";
    for (const char* setting : {"addr_gen_mode=1", "accept_dad=0", "disable_ipv6=0"})
        must("sysctl -qw net/ipv6/conf/" + device + "/" + setting);
    must("ip address add " + network + "1/64 dev " + device + " nodad");
    must("ip neigh replace " + network + "2 lladdr " + text(station(number + 1)) + " dev " + device +
         " nud permanent");
}

Arrivals Route6Test::arrivals() {
    auto found = RouteTest::arrivals();
    const auto isReport = [](const Frame& frame) {
        const bool tagged = etherType(frame) == ETH_P_8021Q || etherType(frame) == ETH_P_8021AD;
        const std::size_t behind = tagged ? 4 : 0;
        const std::size_t nextHeader = 14 + behind + 6;
        return frame.bytes.size() > nextHeader && etherType(frame, behind) == ETH_P_IPV6 &&
               frame.bytes[0] == 0x33 && frame.bytes[5] == 0x16 && frame.bytes[nextHeader] == 0;
    };
    for (auto& [port, frames] : found)
        std::erase_if(frames, isReport);
    std::erase_if(found, [](const auto& port) { return port.second.empty(); });
    return found;
}

} // namespace tna::test
