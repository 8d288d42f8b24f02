// SPDX-License-Identifier: Apache-2.0
// Facts of which Linux sends no message, XDP programs of others first of all: what has hindered a port and is
// gone hinders it no longer.
#include "netns/daemon/daemon_fixture.hpp"
#include "tnactl/client.hpp"

#include <bpf/bpf.h>
#include <csignal>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>

namespace tna::test {
namespace {

class Rechecking : public Daemon {
protected:
    void SetUp() override {
        Daemon::SetUp();
        if (IsSkipped())
            return;
        // Each port is announced when its delay is over, whether it has waited or not: not during these
        // tests.
        must("ip link set br0 type bridge forward_delay 3000");
        for (const std::string port : {"p0", "p1"}) {
            must("ip link set " + port + " down");
            must("ip link set " + port + " up");
        }
    }
    /// Somebody else's program, which leaves all to Linux.
    static UniqueFd foreignProgram() {
        const bpf_insn code[] = {
            {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
            {.code = BPF_JMP | BPF_EXIT},
        };
        return UniqueFd{bpf_prog_load(BPF_PROG_TYPE_XDP, "somebodys", "GPL", code, std::size(code), nullptr)};
    }
    static int indexOf(const std::string& port) { return static_cast<int>(::if_nametoindex(port.c_str())); }
    /// Attached for as long as what is returned is held; Linux announces neither.
    static UniqueFd foreignLink(const std::string& port) {
        const auto program = foreignProgram();
        LIBBPF_OPTS(bpf_link_create_opts, options, .flags = XDP_FLAGS_DRV_MODE);
        UniqueFd link{bpf_link_create(program.get(), indexOf(port), BPF_XDP, &options)};
        EXPECT_TRUE(link) << errnoText(errno);
        return link;
    }
    /// Makes Linux announce a link as it is now.
    static void announce(const std::string& port) {
        must("ip link set " + port + " alias a");
        must("ip link set " + port + " alias b");
    }
    void pause(bool paused) const {
        const auto answer = ctl::Client(socket()).post(paused ? "/v1/pause" : "/v1/resume", {{"port", "p0"}});
        EXPECT_TRUE(answer) << answer.error().sentence();
    }
    [[nodiscard]] std::string whyNot(const std::string& port) const {
        const auto answer = ctl::Client(socket()).get(ctl::pathOfPort(port));
        return answer ? answer->dump() : answer.error().sentence();
    }
    [[nodiscard]] bool hindered() const {
        return eventually([&] { return whyNot("p0").find("foreign-xdp") != std::string::npos; });
    }
};

TEST_F(Rechecking, ForeignLinkThatGoesAwayNoLongerHinders) {
    auto link = foreignLink("p0");
    start();
    ASSERT_TRUE(hindered()) << whyNot("p0");
    ASSERT_TRUE(eventually([&] { return stateOf("p1") == "accelerated"; }));
    link.reset();
    EXPECT_TRUE(accelerated()) << whyNot("p0");
    expectForwarding();
}

TEST_F(Rechecking, ForeignProgramAttachedByNetlinkThatGoesAwayNoLongerHinders) {
    const auto program = foreignProgram();
    ASSERT_EQ(bpf_xdp_attach(indexOf("p0"), program.get(), XDP_FLAGS_DRV_MODE, nullptr), 0);
    start();
    ASSERT_TRUE(hindered()) << whyNot("p0");
    ASSERT_EQ(bpf_xdp_detach(indexOf("p0"), XDP_FLAGS_DRV_MODE, nullptr), 0);
    EXPECT_TRUE(accelerated()) << whyNot("p0");
}

TEST_F(Rechecking, WhatAnotherDaemonHasHeldIsTakenOverWhenItEnds) {
    start();
    ASSERT_TRUE(accelerated()) << whyNot("p0");
    Process second{
        {TNAD, "--config", directory_ + "/conf", "--socket", directory_ + "/second", "--log-level", "off"}};
    const auto secondStatus = [&] { return ctl::Client(directory_ + "/second").get("/v1/status"); };
    const auto allAre = [&](const char* state) {
        const auto status = secondStatus();
        return status && (*status)["ports"].size() == 2 && (*status)["ports"][0]["state"] == state &&
               (*status)["ports"][1]["state"] == state;
    };
    ASSERT_TRUE(eventually([&] { return allAre("linux"); }, std::chrono::seconds(20)));
    EXPECT_EQ(end(SIGTERM), 0);
    EXPECT_TRUE(eventually([&] { return allAre("accelerated"); }, std::chrono::seconds(20)))
        << secondStatus().value_or("no answer").dump();
    expectForwarding();
    EXPECT_EQ(second.end(SIGTERM), 0);
}

TEST_F(Rechecking, OwnProgramThatWasTakenOutIsNobodyElses) {
    start();
    ASSERT_TRUE(accelerated()) << whyNot("p0");
    for (int round = 0; round < 5; round++) {
        announce("p0");
        pause(true);
        EXPECT_EQ(stateOf("p0"), "paused");
        pause(false);
        ASSERT_EQ(stateOf("p0"), "accelerated") << whyNot("p0");
    }
}

TEST_F(Rechecking, ResumingReadsEverythingAtOnce) {
    start();
    ASSERT_TRUE(accelerated()) << whyNot("p0");
    pause(true);
    auto link = foreignLink("p0");
    announce("p0");
    ASSERT_TRUE(hindered()) << whyNot("p0");
    link.reset();
    pause(false);
    EXPECT_EQ(stateOf("p0"), "accelerated") << whyNot("p0");
}

} // namespace
} // namespace tna::test
