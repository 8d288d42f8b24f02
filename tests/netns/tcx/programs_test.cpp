// SPDX-License-Identifier: Apache-2.0
// Other people's programs of traffic control at a port with one of ours: where there are any, frames are
// Linux's. Those who capture see every frame.
#include "tcx_fixture.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <filesystem>
#include <linux/if_link.h>
#include <linux/pkt_cls.h>
#include <net/if.h>

namespace tna::test {
namespace {

constexpr auto tcxIngress = static_cast<bpf_attach_type>(46);
constexpr auto tcxEgress = static_cast<bpf_attach_type>(47);

class TcxPrograms : public TcxTest {
protected:
    /// A program that always gives the same verdict, behind those that are there; or before them.
    static UniqueFd attach(const char* port, bpf_attach_type where, std::int32_t verdict, __u32 flags = 0) {
        const bpf_insn code[] = {
            {.code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = verdict},
            {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
        const UniqueFd program{bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "verdict", "GPL", code, 2, nullptr)};
        LIBBPF_OPTS(bpf_link_create_opts, options, .flags = flags);
        return UniqueFd{
            bpf_link_create(program.get(), static_cast<int>(::if_nametoindex(port)), where, &options)};
    }
    static unsigned programsAt(const char* port) {
        __u32 flags = 0, count = 0;
        EXPECT_EQ(
            bpf_prog_query(static_cast<int>(::if_nametoindex(port)), tcxIngress, 0, &flags, nullptr, &count),
            0);
        return count;
    }
    void expectAsLinuxBehindOurs(std::int32_t verdict) {
        auto other = attach("p0", tcxIngress, verdict);
        if (!other)
            GTEST_SKIP() << "this kernel has no tcx";
        const auto linux = treat(oneToTwo()).out;
        other.reset();
        ASSERT_NO_FATAL_FAILURE(start());
        other = attach("p0", tcxIngress, verdict);
        EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("tc"), linux}));
        EXPECT_EQ(treat(twoToOne(), 1).path, fastPath()) << "of another port, it is no matter";
        other.reset();
        EXPECT_EQ(treat(oneToTwo()), usual());
    }
};

TEST_F(TcxPrograms, OneBehindOursThatLetsPass) {
    expectAsLinuxBehindOurs(TC_ACT_UNSPEC);
}

TEST_F(TcxPrograms, OneBehindOursThatDrops) {
    expectAsLinuxBehindOurs(TC_ACT_SHOT);
}

TEST_F(TcxPrograms, OneBeforeOursRunsFirstAndStays) {
    auto other = attach("p0", tcxIngress, TC_ACT_UNSPEC);
    if (!other)
        GTEST_SKIP() << "this kernel has no tcx";
    ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
    EXPECT_EQ(programsAt("p0"), 2U);
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("tc"), usual().out}));
    other.reset();
    EXPECT_EQ(treat(oneToTwo()), usual());
    other = attach("p0", tcxIngress, TC_ACT_SHOT);
    controller_.reset();
    EXPECT_EQ(programsAt("p0"), 1U);
    EXPECT_EQ(treat(oneToTwo()).out, Arrivals{});
}

/// Linux runs it, for frames that are forwarded by the fast path as well.
TEST_F(TcxPrograms, OneAtEgressSeesEveryFrame) {
    auto other = attach("p1", tcxEgress, TC_ACT_SHOT);
    if (!other)
        GTEST_SKIP() << "this kernel has no tcx";
    other.reset();
    ASSERT_NO_FATAL_FAILURE(start());
    other = attach("p1", tcxEgress, TC_ACT_SHOT);
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {}}));
    other.reset();
    EXPECT_EQ(treat(oneToTwo()), usual());
}

/// It is the one thing at egress that Linux does not run on what a program at ingress redirects.
TEST_F(TcxPrograms, NetfilterAtEgressHasEveryFrame) {
    config_.kernel.selfCheck = 0; // which would have another look at each frame
    must("nft add table netdev t");
    ASSERT_NO_FATAL_FAILURE(start());
    run({"nft add chain netdev t c '{ type filter hook egress device p1 priority 0; policy drop; }'"});
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("netdev-hook"), {}}));
    must("nft delete chain netdev t c");
    EXPECT_EQ(treat(oneToTwo()), usual());
}

/// It does not run on frames that a program has redirected, and those are still known as such there.
TEST_F(TcxPrograms, GenericXdpAtTheOtherEndHasEveryFrame) {
    config_.kernel.selfCheck = 0; // which would have another look at each frame
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(dropsAll("far1"));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("generic-xdp"), {}}));
    inFar("ip link set far1 xdpgeneric off");
    EXPECT_EQ(treat(oneToTwo()), usual());
}

TEST_F(TcxPrograms, NothingStaysBehind) {
    ASSERT_NO_FATAL_FAILURE(start());
    EXPECT_EQ(programsAt("p0"), 1U);
    controller_.reset();
    EXPECT_EQ(programsAt("p0"), 0U);
    EXPECT_EQ(treat(oneToTwo()).out, usual().out);
}

TEST_F(TcxPrograms, CapturesSeeEveryFrameAndCostNothing) {
    ASSERT_NO_FATAL_FAILURE(start());
    const PacketPort in("p0");
    EXPECT_EQ(treat(oneToTwo()), usual());
    EXPECT_EQ(in.drain(), std::vector{oneToTwo()});
}

constexpr __u32 before = 1U << 3U; // BPF_F_BEFORE
constexpr __u32 tcxLink = 11;      // BPF_LINK_TYPE_TCX

/// Ports at XDP that are seen at tcx as well, because of one that is there only.
class BothHooks : public TcxPrograms {
protected:
    void startAtBoth() {
        config_.ports.tcxKinds.clear();
        config_.ports.tcx = {"p2"};
        ASSERT_NO_FATAL_FAILURE(accelerate());
        if (IsSkipped())
            return;
        must("bridge fdb replace " + text(station(3)) + " dev p2 master static");
        ASSERT_EQ((*controller_->port("p0"))["port"]["hook"], "xdp-native+tcx");
        ASSERT_EQ((*controller_->port("p2"))["port"]["hook"], "tcx");
        ASSERT_EQ(treat(oneToTwo()), usual());
        ASSERT_EQ(treat(oneToThree()), (Treatment{fastPath(), {{2, {oneToThree()}}}}));
    }
    static Frame oneToThree() { return FrameBuilder().ethernet(station(3), station(1)).udp(); }
    /// A program of somebody else's is at p0, in front of ours or behind it.
    void expectAsLinuxWith(std::int32_t verdict, __u32 flags, const Path& path) {
        auto other = attach("p0", tcxIngress, verdict, flags);
        if (!other)
            GTEST_SKIP() << "this kernel has no tcx";
        const auto two = treat(oneToTwo()).out;
        other.reset();
        ASSERT_NO_FATAL_FAILURE(startAtBoth());
        other = attach("p0", tcxIngress, verdict, flags);
        EXPECT_EQ(treat(oneToTwo()), (Treatment{path, two}));
        EXPECT_EQ(treat(twoToOne(), 1).path, fastPath()) << "of another port, it is no matter";
        other.reset();
        EXPECT_EQ(treat(oneToTwo()), usual());
    }
};

TEST_F(BothHooks, AnotherProgramInFrontThatLetsPass) {
    expectAsLinuxWith(TC_ACT_UNSPEC, before, slowPath("tc"));
}

/// Ours never sees it.
TEST_F(BothHooks, AnotherProgramInFrontThatDrops) {
    expectAsLinuxWith(TC_ACT_SHOT, before, {});
}

TEST_F(BothHooks, AnotherProgramBehindThatLetsPass) {
    expectAsLinuxWith(TC_ACT_UNSPEC, 0, slowPath("tc"));
}

TEST_F(BothHooks, AnotherProgramBehindThatDrops) {
    expectAsLinuxWith(TC_ACT_SHOT, 0, slowPath("tc"));
}

/// Somebody has cut the link of ours, and put a program in its place: nothing else comes behind it.
TEST_F(BothHooks, AnotherProgramInPlaceOfOurs) {
    ASSERT_NO_FATAL_FAILURE(startAtBoth());
    for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        if (std::filesystem::read_symlink(file.path(), gone).string() != "anon_inode:bpf_link")
            continue;
        bpf_link_info info{};
        __u32 size = sizeof(info);
        const int link = std::stoi(file.path().filename());
        if (bpf_obj_get_info_by_fd(link, &info, &size) == 0 && info.type == tcxLink &&
            info.xdp.ifindex == ::if_nametoindex("p0")) {
            ASSERT_EQ(bpf_link_detach(link), 0);
        }
    }
    ASSERT_EQ(programsAt("p0"), 0U);
    EXPECT_EQ(treat(oneToTwo()), usual());
    const auto other = attach("p0", tcxIngress, TC_ACT_SHOT);
    EXPECT_EQ(treat(oneToTwo()), Treatment{});
}

TEST_F(BothHooks, FilterDrops) {
    ASSERT_NO_FATAL_FAILURE(startAtBoth());
    must("tc qdisc add dev p0 clsact");
    EXPECT_EQ(treat(oneToTwo()), usual()) << "without a filter, nothing is asked";
    const auto added = command({"tc", "filter", "add", "dev", "p0", "ingress", "matchall", "action", "drop"});
    if (added.exitCode != 0)
        GTEST_SKIP() << "this kernel has no such filters: " << added.output;
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("tc"), {}}));
    must("tc filter del dev p0 ingress");
    EXPECT_EQ(treat(oneToTwo()), usual());
}

TEST_F(BothHooks, PauseAndResume) {
    ASSERT_NO_FATAL_FAILURE(startAtBoth());
    ASSERT_TRUE(controller_->pause("p0", true));
    EXPECT_EQ(treat(oneToThree()), (Treatment{{}, {{2, {oneToThree()}}}}));
    EXPECT_EQ(programsAt("p0"), 0U);
    ASSERT_TRUE(controller_->pause("p0", false));
    EXPECT_EQ(treat(oneToThree()).path, fastPath());
    EXPECT_EQ(treat(oneToTwo()), usual());
    ASSERT_TRUE(controller_->pause("p2", true));
    EXPECT_EQ(treat(oneToTwo()), usual());
    EXPECT_EQ(treat(oneToThree()), (Treatment{slowPath("egress-unmanaged"), {{2, {oneToThree()}}}}));
}

} // namespace
} // namespace tna::test
