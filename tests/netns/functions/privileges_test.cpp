// SPDX-License-Identifier: Apache-2.0
// What a function without privileges cannot do to the machine, or to other functions.
#include "netns/functions/functions_fixture.hpp"
#include "netns/functions/rogue.hpp"
#include "support/ipv4.hpp"

#include <array>
#include <bpf/bpf.h>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <linux/pkt_cls.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace tna::test {
namespace {

class Privileges : public FunctionsTest {};

/// Its sockets live on, and so do the veths, which nobody removes: what comes by them is for nobody.
TEST_F(Privileges, NothingGetsIntoTheHostWithoutTnad) {
    must("ip address add 10.9.9.1/32 dev lo");
    must("ip link set lo up");
    startTnad();
    ASSERT_EQ(declare("dns", dnsFunction), "");
    const UniqueFd receiver{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(7);
    ASSERT_EQ(::bind(receiver.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    Mac to{1};
    std::istringstream shown{command({"ip", "-br", "link", "show", "tna-fn1"}).output};
    for (std::string word; shown >> word;)
        std::sscanf(word.c_str(), "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &to[0], &to[1], &to[2], &to[3], &to[4],
                    &to[5]);
    auto forged = ipv4Frame(to, station(7), {.from = "10.0.0.1", .to = "10.9.9.1", .payload = 26});
    // of UDP, to port 7, without a checksum
    const auto length = static_cast<std::uint8_t>(forged.bytes.size() - 34);
    const std::array<std::uint8_t, 8> header{0, 7, 0, 7, 0, length, 0, 0};
    std::ranges::copy(header, forged.bytes.begin() + 34);
    const PacketPort into("tna-fn0");
    const auto arrives = [&] {
        into.send(forged);
        return eventually(
            [&] {
                char byte = 0;
                return ::recv(receiver.get(), &byte, 1, 0) >= 0;
            },
            std::chrono::milliseconds(300));
    };
    EXPECT_FALSE(arrives());
    end(SIGKILL);
    EXPECT_FALSE(arrives()) << "tnad has been killed";
    must("tc filter del dev tna-fn1 ingress");
    EXPECT_TRUE(arrives()) << "nothing else keeps it out";
}

/// One that keeps all that it is handed for the way back leaves the others theirs.
TEST_F(Privileges, WaysBackOfOthersAreLeft) {
    startTnad();
    ASSERT_EQ(
        declare("dns", "users = [\"nobody\", \"root\"]\nports = [\"p0\"]\n[[rule]]\nprotocol = \"udp\"\n"),
        "");
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    const UniqueFd from{pipe[0]};
    UniqueFd to{pipe[1]};
    const auto child = ::fork();
    if (child == 0) {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0)
            ::_exit(2);
        std::vector<UniqueFd> kept;
        unsigned without = 0;
        const bool refused = eventually([&] {
            Rogue rogue{functionSocket()};
            if (!rogue.good()) // the kernel lets go of a queue a moment later
                return false;
            if (auto back = rogue.takeWayBack())
                kept.push_back(std::move(back));
            else
                without++;
            return without == 3;
        });
        if (!refused)
            ::_exit(4);
        const auto count = static_cast<std::uint8_t>(kept.size());
        if (::write(to.get(), &count, 1) != 1)
            ::_exit(3);
        ::pause();
        ::_exit(0);
    }
    to.reset();
    std::uint8_t kept = 0;
    EXPECT_EQ(::read(from.get(), &kept, 1), 1);
    EXPECT_EQ(kept, 8) << "it gets no more";
    EXPECT_TRUE(eventually([&] {
        Rogue other{functionSocket()};
        return other.good() && other.takeWayBack();
    })) << "somebody else does";
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
}

/// At egress, filters see no socket of what has just come in.
TEST_F(Privileges, FramesThatAreGivenBackHaveNoSocket) {
    startTnad();
    const bpf_insn dropsWithSocket[] = {
        {.code = BPF_LDX | BPF_MEM | BPF_DW,
         .dst_reg = 1,
         .src_reg = 1,
         .off = static_cast<std::int16_t>(offsetof(__sk_buff, sk)),
         .imm = 0},
        {.code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = TC_ACT_UNSPEC},
        {.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = 1, .src_reg = 0, .off = 1, .imm = 0},
        {.code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = TC_ACT_SHOT},
        {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
    const UniqueFd program{bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "by_socket", "GPL", dropsWithSocket,
                                         std::size(dropsWithSocket), nullptr)};
    ASSERT_TRUE(program);
    constexpr auto tcxEgress = static_cast<bpf_attach_type>(47);
    const UniqueFd link{
        bpf_link_create(program.get(), static_cast<int>(::if_nametoindex("p1")), tcxEgress, nullptr)};
    if (!link)
        GTEST_SKIP() << "there is no tcx before Linux 6.6";
    ASSERT_EQ(declare("dns", dnsFunction), "");
    startWorkload("back", "dns");
    ASSERT_TRUE(becomes("dns", "connected"));
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(1), toPort(53));
}

/// Whoever has it now, before tnad knows, has its frames.
class PortThatMoves : public Privileges {
protected:
    void startFunction() {
        startTnad();
        ASSERT_EQ(declare("dns", dnsFunction), "");
        startWorkload("macswap", "dns");
        ASSERT_TRUE(becomes("dns", "connected"));
        far(0).send(toPort(53));
        ASSERT_EQ(arrivesAt(0), swapped(toPort(53)));
    }
    void move() {
        process_->signal(SIGSTOP);
        const Namespace elsewhere;
        must("ip link set p0 netns " + elsewhere.name());
        {
            const auto inside = elsewhere.enter();
            must("ip link set p0 up");
            const PacketPort port("p0");
            // The carrier comes back a moment later.
            EXPECT_TRUE(eventually([&] {
                far(0).send(toPort(53));
                return port.receive(std::chrono::milliseconds(100)) == toPort(53);
            }));
        }
        process_->signal(SIGCONT);
    }
};

TEST_F(PortThatMoves, TakesNoFunctionAlong) {
    ASSERT_NO_FATAL_FAILURE(startFunction());
    move();
}

/// The kernel has unbound the sockets, and would lose what is given to them.
TEST_F(PortThatMoves, HasItsFunctionAgainWhenItIsBackBeforeAnybodyKnows) {
    ASSERT_NO_FATAL_FAILURE(startFunction());
    process_->signal(SIGSTOP);
    const auto home = dut_->name();
    const Namespace elsewhere;
    must("ip link set p0 netns " + elsewhere.name());
    {
        const auto inside = elsewhere.enter();
        must("ip link set p0 netns " + home);
    }
    must("ip link set p0 master br0 up");
    process_->signal(SIGCONT);
    EXPECT_TRUE(eventually([&] {
        far(0).send(toPort(53));
        return arrivesAt(0) == swapped(toPort(53));
    }));
}

/// What is dropped here when nobody takes it.
TEST_F(PortThatMoves, DropsNothing) {
    startTnad();
    ASSERT_EQ(declare("dns", std::string("otherwise = \"drop\"") + dnsFunction), "");
    far(0).send(toPort(53));
    EXPECT_TRUE(nothingAt(1));
    move();
}

} // namespace
} // namespace tna::test
