// SPDX-License-Identifier: Apache-2.0
// The daemon as a process: started, asked, killed, and given what it must refuse.
#include "base/file.hpp"
#include "netns/daemon/daemon_fixture.hpp"
#include "tnactl/client.hpp"

#include <algorithm>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <nlohmann/json.hpp>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

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
    const auto attached = [] {
        std::uint32_t id = 0;
        EXPECT_EQ(bpf_xdp_query_id(static_cast<int>(::if_nametoindex("p0")), XDP_FLAGS_DRV_MODE, &id), 0);
        return id;
    };
    const auto before = attached();
    start();
    EXPECT_TRUE(eventually([&] { return stateOf("p1") == "accelerated"; }));
    EXPECT_EQ(stateOf("p0"), "linux");
    EXPECT_EQ(attached(), before);
    const auto told = command({TNACTL, "--socket", socket(), "explain", "p0"});
    EXPECT_THAT(told.output, HasSubstr("another XDP program is attached; it is left alone"));
    EXPECT_THAT(told.output, HasSubstr("`ip link set p0 xdp off` takes it away"));
    EXPECT_EQ(end(SIGTERM), 0);
    EXPECT_EQ(attached(), before);
}

/// At tcx, where the kernel has that.
TEST_F(Daemon, VethIsNotAtXdpByDefault) {
    ASSERT_TRUE(writeFile(directory_ + "/conf", ""));
    start();
    EXPECT_TRUE(eventually([&] { return stateOf("p0") == "accelerated" || stateOf("p0") == "linux"; }));
    EXPECT_FALSE(xdpOn("p0"));
}

TEST_F(Daemon, VethIsLinuxsWhereItIsExcluded) {
    ASSERT_TRUE(writeFile(directory_ + "/conf", "[ports]\nexclude_kinds = [\"veth\"]\n"));
    start();
    EXPECT_TRUE(eventually([&] { return stateOf("p0") == "linux"; }));
    EXPECT_FALSE(xdpOn("p0"));
}

TEST_F(Daemon, SocketLeftByADeadOneIsTakenOver) {
    start();
    ASSERT_TRUE(accelerated());
    end(SIGKILL);
    ASSERT_TRUE(std::filesystem::exists(socket()));
    start();
    EXPECT_TRUE(accelerated());
}

TEST_F(Daemon, AnotherOneInAnotherNamespaceTakesNoSocketAway) {
    start();
    ASSERT_TRUE(accelerated());
    const std::vector<std::string> all{"blue-functions.sock", "blue.sock", "conf", "functions.sock",
                                       "tnad.sock"};
    const auto files = [&] {
        std::vector<std::string> names;
        for (const auto& file : std::filesystem::directory_iterator(directory_))
            names.push_back(file.path().filename());
        std::ranges::sort(names);
        return names;
    };
    {
        const auto inside = far_->enter();
        Process other({TNAD, "--config", directory_ + "/conf", "--socket", directory_ + "/blue.sock",
                       "--log-level", "off"});
        EXPECT_TRUE(eventually([&] { return files() == all; }, std::chrono::seconds(20)));
        EXPECT_EQ(other.end(SIGTERM), 0);
    }
    EXPECT_EQ(files(), (std::vector<std::string>{"conf", "functions.sock", "tnad.sock"}));
}

TEST_F(Daemon, SettingsForTheStartAloneStayAsTheyAreWhenTheConfigurationIsReadAgain) {
    start();
    ASSERT_TRUE(accelerated());
    const auto checked = [&] {
        return ctl::Client(socket()).get("/v1/status").value_or(nlohmann::json{})["self_check"]["one_in"];
    };
    const auto before = checked();
    ASSERT_TRUE(writeFile(directory_ + "/conf", "[ports]\nexclude_kinds = []\nexclude = ['p1']\n[kernel]\n"
                                                "refresh = 1000000\nself_check = 4\n"));
    process_->signal(SIGHUP);
    ASSERT_TRUE(eventually([&] { return stateOf("p1") == "linux"; }));
    EXPECT_EQ(checked(), before);
}

TEST_F(Daemon, KernelThatShowsNoAddressesIsNotOneWithoutBridgeNetfilter) {
    const auto symbols = readFile("/proc/kallsyms").value_or("");
    if (!symbols.contains(" br_nf_pre_routing\n") && !symbols.contains(" br_nf_pre_routing\t"))
        GTEST_SKIP() << "needs br_netfilter";
    ASSERT_TRUE(writeFile(directory_ + "/symbols", "0000000000000000 t br_nf_pre_routing\n"));
    start({"unshare", "--mount", "sh", "-c",
           "mount --bind " + directory_ + "/symbols /proc/kallsyms && exec \"$@\"", "sh"});
    ASSERT_TRUE(accelerated()) << stateOf("p0");
    const auto ask = [&](const char* path) {
        return ctl::Client(socket()).get(path).value_or(nlohmann::json::object()).dump();
    };
    EXPECT_THAT(ask("/v1/capabilities"), HasSubstr("its addresses are not shown (kernel.kptr_restrict)"));
    EXPECT_THAT(ask("/v1/ports/p0"), ::testing::Not(HasSubstr("kptr_restrict"))) << "nothing was Linux's yet";
    expectForwarding();
    EXPECT_TRUE(eventually([&] { return ask("/v1/ports/p0").contains("sysctl kernel.kptr_restrict=1"); }))
        << ask("/v1/ports/p0");
}

TEST_F(Daemon, WrongRequestsAreAnsweredAndHarmNobody) {
    start();
    ASSERT_TRUE(accelerated());
    const ctl::Client client(socket());
    EXPECT_THAT(client.get("/v1/ports/nope").error().what, HasSubstr("not a port"));
    EXPECT_FALSE(client.get("/v1/nothing"));
    EXPECT_FALSE(client.post("/v1/pause", nlohmann::json::array()));
    EXPECT_FALSE(client.post("/v1/pause", {{"port", 3}}));
    EXPECT_FALSE(client.post("/v1/pause", {{"port", "nope"}}));
    EXPECT_EQ(stateOf("p0"), "accelerated");
}

TEST_F(Daemon, LogHasNothingForTerminals) {
    const std::string name = "\x1b[31mred\x7f";
    must("ip link add p9 type veth peer name q9");
    ASSERT_EQ(command({"ip", "link", "set", "p9", "name", name}).exitCode, 0);
    ASSERT_EQ(command({"ip", "link", "set", name, "master", "br0", "up"}).exitCode, 0);
    const auto log = directory_ + "/log";
    process_.emplace(std::vector<std::string>{"sh", "-c", "exec \"$@\" 2>" + log, "sh", TNAD, "--config",
                                              directory_ + "/conf", "--socket", socket()});
    ASSERT_TRUE(accelerated());
    EXPECT_TRUE(eventually([&] {
        return readFile(log).value_or("").find("\\x1b[31mred\\x7f: accelerated") != std::string::npos;
    })) << readFile(log).value_or("no log");
    EXPECT_EQ(readFile(log).value_or("\x1b").find('\x1b'), std::string::npos);
}

} // namespace
} // namespace tna::test
