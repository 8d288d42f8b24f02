// SPDX-License-Identifier: Apache-2.0
// Other people's BPF programs: tcx programs see every frame, XDP programs are never replaced.
#include "bridge_fixture.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <linux/pkt_cls.h>
#include <net/if.h>

namespace tna::test {
namespace {

class Programs : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (!IsSkipped())
            learn();
    }
    /// A program that always gives the same verdict.
    static UniqueFd verdict(bpf_prog_type type, std::int32_t value) {
        const bpf_insn code[] = {
            {.code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = value},
            {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
        return UniqueFd{bpf_prog_load(type, "verdict", "GPL", code, 2, nullptr)};
    }
    static UniqueFd tcx(const char* port, int hook, int program) {
        return UniqueFd{bpf_link_create(program, static_cast<int>(::if_nametoindex(port)),
                                        static_cast<bpf_attach_type>(hook), nullptr)};
    }
    void expectTcxAsLinux(const char* port, int hook, std::int32_t value) {
        const auto program = verdict(BPF_PROG_TYPE_SCHED_CLS, value);
        ASSERT_TRUE(program);
        auto link = tcx(port, hook, program.get());
        if (!link)
            GTEST_SKIP() << "this kernel has no tcx: " << std::strerror(errno);
        const auto linux = treat(oneToTwo()).out;
        link.reset();
        ASSERT_NO_FATAL_FAILURE(accelerate());
        const Treatment usual{fastPath(), {{1, {oneToTwo()}}}};
        ASSERT_EQ(treat(oneToTwo()), usual);
        link = tcx(port, hook, program.get());
        ASSERT_TRUE(link);
        EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("tc"), linux}));
        link.reset();
        EXPECT_EQ(treat(oneToTwo()), usual);
    }
    static constexpr int tcxIngress = 46; // BPF_TCX_INGRESS
    static constexpr int tcxEgress = 47;  // BPF_TCX_EGRESS
};

TEST_F(Programs, TcxAtIngress) {
    expectTcxAsLinux("p0", tcxIngress, TC_ACT_UNSPEC);
}
TEST_F(Programs, TcxAtIngressThatDrops) {
    expectTcxAsLinux("p0", tcxIngress, TC_ACT_SHOT);
}
TEST_F(Programs, TcxAtEgress) {
    expectTcxAsLinux("p1", tcxEgress, TC_ACT_UNSPEC);
}
TEST_F(Programs, TcxAtEgressThatDrops) {
    expectTcxAsLinux("p1", tcxEgress, TC_ACT_SHOT);
}

TEST_F(Programs, ForeignXdpProgramStaysAndItsPortIsLeftToIt) {
    const auto dropsAll = verdict(BPF_PROG_TYPE_XDP, XDP_DROP);
    ASSERT_TRUE(dropsAll);
    const int port = static_cast<int>(::if_nametoindex("p0"));
    ASSERT_EQ(bpf_xdp_attach(port, dropsAll.get(), XDP_FLAGS_DRV_MODE, nullptr), 0);
    __u32 before = 0, after = 0;
    ASSERT_EQ(bpf_xdp_query_id(port, 0, &before), 0);

    config::Config config;
    config.ports.excludeKinds.clear();
    config.ports.tcxKinds.clear();
    config.kernel.refresh = config_.kernel.refresh;
    auto controller = daemon::Controller::start(config);
    TNA_EXPECT_STARTED(controller);
    controller_ = std::move(*controller);
    EXPECT_TRUE(reaches("p1", "accelerated"));
    EXPECT_TRUE(reaches("p0", "linux"));
    EXPECT_EQ(treat(oneToTwo()).out, Arrivals{}) << "the foreign program was bypassed";
    EXPECT_EQ(treat(twoToOne(), 1), (Treatment{fastPath(), {{0, {twoToOne()}}}}));
    controller_.reset();
    ASSERT_EQ(bpf_xdp_query_id(port, 0, &after), 0);
    EXPECT_EQ(after, before);
}

} // namespace
} // namespace tna::test
