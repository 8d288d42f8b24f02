// SPDX-License-Identifier: Apache-2.0
// The daemon as a process: started, asked, killed, and given what it must refuse.
#include "base/file.hpp"
#include "support/command.hpp"
#include "support/eventually.hpp"
#include "support/namespace.hpp"
#include "support/packet_port.hpp"
#include "tnactl/client.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sys/wait.h>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

class Daemon : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto why = cannotUseNamespaces(); !why.empty())
            GTEST_SKIP() << why;
        char pattern[] = "/tmp/tna-test-XXXXXX";
        directory_ = ::mkdtemp(pattern);
        dut_.emplace();
        far_.emplace();
        scope_.emplace(dut_->enter());
        must("ip link add br0 type bridge mcast_snooping 0");
        for (const std::string n : {"0", "1"}) {
            must("ip link add p" + n + " type veth peer name far" + n + " netns " + far_->name());
            must("ip link set p" + n + " master br0 up");
            const auto inside = far_->enter();
            must("ip link set far" + n + " up");
            must("ethtool -K far" + n + " gro on");
        }
        must("ip link set br0 up");
        for (const char* family : {"iptables", "ip6tables"})
            if (std::filesystem::exists(std::string("/proc/sys/net/bridge/bridge-nf-call-") + family))
                sysctl(std::string("net.bridge.bridge-nf-call-") + family, "0");
        ASSERT_TRUE(writeFile(directory_ + "/conf", "[ports]\nexclude_kinds = []\n"));
    }
    void TearDown() override {
        if (pid_ > 0)
            end(SIGKILL);
        std::error_code ignored;
        if (!directory_.empty())
            std::filesystem::remove_all(directory_, ignored);
    }
    void start() {
        pid_ = ::fork();
        if (pid_ == 0) {
            ::execl(TNAD, TNAD, "--config", (directory_ + "/conf").c_str(), "--socket", socket().c_str(),
                    "--log-level", "off", nullptr);
            ::_exit(127);
        }
    }
    int end(int signal) {
        int status = 0;
        ::kill(pid_, signal);
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    [[nodiscard]] std::string socket() const { return directory_ + "/sock"; }
    [[nodiscard]] std::string stateOf(const std::string& port) const {
        const auto answer = ctl::Client(socket()).get("/v1/ports/" + port);
        return answer ? (*answer)["port"]["state"].get<std::string>() : answer.error().error.sentence();
    }
    [[nodiscard]] bool accelerated() const {
        return eventually([&] { return stateOf("p0") == "accelerated" && stateOf("p1") == "accelerated"; });
    }
    static bool xdpOn(const std::string& port) {
        return command({"ip", "link", "show", port}).output.find("xdp") != std::string::npos;
    }
    void expectForwarding() {
        const auto inside = far_->enter();
        const PacketPort from("far0");
        const PacketPort to("far1");
        const auto frame = FrameBuilder().ethernet(station(2), station(1)).udp();
        from.send(frame);
        EXPECT_EQ(to.receive(), frame);
    }
    [[nodiscard]] nlohmann::json events() const {
        return ctl::Client(socket()).get("/v1/events").value_or(nlohmann::json::object());
    }

    std::string directory_;
    std::optional<Namespace> dut_;
    std::optional<Namespace> far_;
    std::optional<NamespaceScope> scope_;
    pid_t pid_ = -1;
};

TEST_F(Daemon, AcceleratesAndLeavesNothingBehindWhenStopped) {
    start();
    ASSERT_TRUE(accelerated()) << stateOf("p0");
    EXPECT_TRUE(xdpOn("p0"));
    EXPECT_EQ(end(SIGTERM), 0);
    EXPECT_FALSE(xdpOn("p0"));
    EXPECT_FALSE(std::filesystem::exists(socket()));
    expectForwarding();
}

TEST_F(Daemon, KilledLeavesLinuxForwardingAndStartsAgain) {
    start();
    ASSERT_TRUE(accelerated()) << stateOf("p0");
    end(SIGKILL);
    ASSERT_TRUE(eventually([&] { return !xdpOn("p0") && !xdpOn("p1"); }));
    expectForwarding();
    start();
    EXPECT_TRUE(accelerated()) << stateOf("p0");
    expectForwarding();
}

TEST_F(Daemon, PortAddedWhileItRunsIsAcceleratedAndLeftAloneWhenItLeavesTheBridge) {
    start();
    ASSERT_TRUE(accelerated());
    must("ip link add p2 type veth peer name far2 netns " + far_->name());
    must("ip link set p2 master br0 up");
    EXPECT_TRUE(eventually([&] { return stateOf("p2") == "accelerated"; })) << stateOf("p2");
    EXPECT_TRUE(xdpOn("p2"));
    must("ip link set p2 nomaster");
    EXPECT_TRUE(eventually([&] { return !xdpOn("p2"); }));
}

TEST_F(Daemon, SettingThatOnlyLinuxHandlesEmptiesThePipelineWithoutDetaching) {
    start();
    ASSERT_TRUE(accelerated());
    must("ip link set p0 type bridge_slave learning off");
    EXPECT_TRUE(eventually([&] { return stateOf("p0") == "linux"; }));
    EXPECT_TRUE(xdpOn("p0"));
    expectForwarding();
    must("ip link set p0 type bridge_slave learning on");
    EXPECT_TRUE(accelerated());
}

TEST_F(Daemon, PreparesItselfForChangesWithoutBeingAskedTo) {
    start();
    ASSERT_TRUE(accelerated()) << stateOf("p0");
    EXPECT_TRUE(eventually([&] { return events()["settled"].get<bool>(); }));
    expectForwarding();
}

TEST_F(Daemon, EventsTellOfEveryChangeOfAProfile) {
    start();
    ASSERT_TRUE(accelerated());
    const auto swaps = [&] { return events()["swaps"].get<std::uint64_t>(); };
    ASSERT_EQ(swaps(), 2U);
    const auto at = events()["last_swap_at_ns"].get<std::int64_t>();
    must("ip link set p0 type bridge_slave learning off");
    EXPECT_TRUE(eventually([&] { return swaps() == 3; }));
    EXPECT_GT(events()["last_swap_at_ns"].get<std::int64_t>(), at);
    must("ip link set p0 type bridge_slave learning on");
    EXPECT_TRUE(eventually([&] { return swaps() == 4; }));
    must("ip link set p0 type bridge_slave guard on");
    must("ip link set p0 type bridge_slave guard off");
    EXPECT_EQ(swaps(), 4U);
}

TEST_F(Daemon, ForeignXdpProgramIsNeverTouched) {
    const bpf_insn passAll[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = XDP_PASS},
        {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
    const UniqueFd program{bpf_prog_load(BPF_PROG_TYPE_XDP, "foreign", "GPL", passAll, 2, nullptr)};
    ASSERT_TRUE(program);
    ASSERT_EQ(
        bpf_xdp_attach(static_cast<int>(::if_nametoindex("p0")), program.get(), XDP_FLAGS_DRV_MODE, nullptr),
        0);
    const auto before = command({"ip", "link", "show", "p0"}).output;
    start();
    EXPECT_TRUE(eventually([&] { return stateOf("p1") == "accelerated"; }));
    EXPECT_EQ(stateOf("p0"), "linux");
    EXPECT_EQ(command({TNACTL, "--socket", socket(), "explain", "p0"}).output.find("another XDP program") ==
                  std::string::npos,
              false);
    EXPECT_EQ(end(SIGTERM), 0);
    EXPECT_EQ(command({"ip", "link", "show", "p0"}).output, before);
}

TEST_F(Daemon, VethIsLeftToLinuxByDefault) {
    ASSERT_TRUE(writeFile(directory_ + "/conf", ""));
    start();
    EXPECT_TRUE(eventually([&] { return stateOf("p0") == "linux"; }));
    EXPECT_FALSE(xdpOn("p0"));
}

TEST_F(Daemon, SecondOneOnTheSameSocketIsRefused) {
    start();
    ASSERT_TRUE(accelerated());
    const auto second = command({TNAD, "--config", directory_ + "/conf", "--socket", socket()});
    EXPECT_EQ(second.exitCode, 1);
    EXPECT_THAT(second.output, HasSubstr("another tnad is running"));
    EXPECT_EQ(stateOf("p0"), "accelerated");
}

TEST_F(Daemon, SocketLeftByADeadOneIsTakenOver) {
    start();
    ASSERT_TRUE(accelerated());
    end(SIGKILL);
    ASSERT_TRUE(std::filesystem::exists(socket()));
    start();
    EXPECT_TRUE(accelerated());
}

TEST_F(Daemon, WrongConfigurationAttachesNothing) {
    ASSERT_TRUE(writeFile(directory_ + "/conf", "[ports]\ninclude = 3\n"));
    const auto run = command({TNAD, "--config", directory_ + "/conf", "--socket", socket()});
    EXPECT_EQ(run.exitCode, 2);
    EXPECT_THAT(run.output, HasSubstr("conf:2: 'include' must be a list of strings"));
    EXPECT_FALSE(xdpOn("p0"));
}

TEST_F(Daemon, WrongRequestsAreAnsweredAndHarmNobody) {
    start();
    ASSERT_TRUE(accelerated());
    const ctl::Client client(socket());
    EXPECT_THAT(client.get("/v1/ports/nope").error().error.what, HasSubstr("not a port"));
    EXPECT_FALSE(client.get("/v1/nothing"));
    EXPECT_FALSE(client.post("/v1/pause", nlohmann::json::array()));
    EXPECT_FALSE(client.post("/v1/pause", {{"port", 3}}));
    EXPECT_FALSE(client.post("/v1/pause", {{"port", "nope"}}));
    EXPECT_EQ(stateOf("p0"), "accelerated");
}

TEST_F(Daemon, ControlProgramTellsOfADeadDaemon) {
    const auto run = command({TNACTL, "--socket", socket(), "status"});
    EXPECT_EQ(run.exitCode, 5);
    EXPECT_THAT(run.output, HasSubstr("does not answer"));
}

} // namespace
} // namespace tna::test
