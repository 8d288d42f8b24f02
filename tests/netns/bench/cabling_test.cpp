// SPDX-License-Identifier: Apache-2.0
// Interfaces that are cabled to a machine under test: veth pairs between two namespaces stand in for both.
#include "in_folder.hpp"

#include "base/file.hpp"
#include "support/command.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace tna::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// nic0 and nic1 of this machine; m0 and m1 of the other, which are ports of a bridge.
class Cabled : public InFolder {
protected:
    void SetUp() override {
        InFolder::SetUp();
        if (IsSkipped())
            return;
        here_.emplace();
        there_.emplace();
        for (const char* end : {"0", "1"})
            test::must(fmt::format("ip -n {0} link add nic{1} type veth peer name m{1} netns {2}",
                                   here_->name(), end, there_->name()));
        {
            const auto inside = there_->enter();
            test::must("ip link add br0 type bridge mcast_snooping 0 forward_delay 0");
            for (const char* port : {"m0", "m1"}) {
                test::must(fmt::format("ip link set {} master br0 up", port));
                test::must(fmt::format("ethtool -K {} gro on", port));
            }
            test::must("ip link set br0 up");
        }
        test::must(fmt::format("ip -n {} link set nic0 up", here_->name()));
        test::must(fmt::format("ip -n {} link set nic1 up", here_->name()));
        // Linux tells of a carrier a moment later.
        EXPECT_TRUE(test::eventually([&] { return state().find("NO-CARRIER") == std::string::npos; }));
    }
    /// In the namespace of this machine.
    test::CommandResult bench(std::vector<std::string> words) const {
        const auto inside = here_->enter();
        words.insert(words.begin(), TNA_BENCH);
        words.insert(words.end(), {"--tnad", TNAD});
        return test::command(words);
    }
    /// Short, unless something else is asked for.
    [[nodiscard]] test::CommandResult throughput(const std::vector<std::string>& more) const {
        std::vector<std::string> words{"throughput"};
        for (const auto& [option, value] :
             std::initializer_list<std::pair<const char*, const char*>>{{"--tx", "nic0"},
                                                                        {"--rx", "nic1"},
                                                                        {"--cpus", "1"},
                                                                        {"--rounds", "1"},
                                                                        {"--seconds", "0.02"},
                                                                        {"--stations", "3"}})
            if (std::ranges::count(more, option) == 0)
                words.insert(words.end(), {option, value});
        words.insert(words.end(), more.begin(), more.end());
        return bench(words);
    }
    static nlohmann::json documentOf(const test::CommandResult& run) {
        EXPECT_EQ(run.exitCode, 0) << run.output;
        return nlohmann::json::parse(run.output.substr(run.output.find('{'), run.output.rfind("\n}") + 2),
                                     nullptr, false);
    }
    /// What could be different afterwards.
    [[nodiscard]] std::string state() const {
        const auto inside = here_->enter();
        return test::command({"ip", "-d", "link", "show"}).output + test::command({"ip", "address"}).output;
    }
    static void allAccountedFor(const nlohmann::json& document) {
        for (const auto& series : document["series"]) {
            EXPECT_TRUE(series["not_measured"].is_null()) << series;
            for (const auto& round : series["rounds"]) {
                EXPECT_GT(round["received"].get<std::uint64_t>(), 0U);
                EXPECT_EQ(round["sent"].get<std::uint64_t>(),
                          round["received"].get<std::uint64_t>() + round["lost"].get<std::uint64_t>());
                EXPECT_EQ(round["twice"].get<std::uint64_t>(), 0U);
            }
        }
    }

    std::optional<test::Namespace> here_;
    std::optional<test::Namespace> there_;
};

TEST_F(Cabled, FramesAreCountedAndEverythingIsAsBefore) {
    const auto before = state();
    for (const char* generator : {"live", "xdp", "packet"}) {
        const auto document =
            documentOf(throughput({"--json", "--generator", generator, "--reverse", "1000"}));
        ASSERT_EQ(document["series"].size(), 1U) << generator;
        EXPECT_EQ(document["series"][0]["contender"], "dut");
        EXPECT_EQ(document["series"][0]["tcp"], "-");
        EXPECT_EQ(document["series"][0]["devices"].size(), 2U);
        allAccountedFor(document);
    }
    EXPECT_TRUE(test::eventually([&] { return state() == before; })) << state() << before;
}

TEST_F(Cabled, LatencyAndRatesWithoutLossAreFoundAsBetweenNamespaces) {
    const auto rate = documentOf(bench({"rfc2544", "--tx", "nic0", "--rx", "nic1", "--json", "--rounds", "1",
                                        "--seconds", "0.1", "--loss", "99.9", "--precision", "50"}));
    EXPECT_GT(rate["series"][0]["mpps"]["median"].get<double>(), 0);
    const auto latency =
        documentOf(bench({"latency", "--tx", "nic0", "--rx", "nic1", "--json", "--rounds", "1", "--seconds",
                          "0.1", "--loads", "5", "--loss", "99.9", "--round-trip"}));
    EXPECT_GT(latency["series"][0]["p50_ns"].get<double>(), 0);
}

TEST_F(Cabled, MachineUnderTestIsToldWhoseTurnItIs) {
    const auto script = folder_->path() + "/use";
    ASSERT_TRUE(writeFile(script, "#!/bin/sh\necho $1 >> \"$(dirname \"$0\")/record\"\n"));
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    const auto document =
        documentOf(throughput({"--json", "--dut", script, "--contender", "one,two", "--rounds", "2"}));
    ASSERT_EQ(document["series"].size(), 2U);
    allAccountedFor(document);
    // To be made ready, and in turns that change sides.
    EXPECT_EQ(readFile(folder_->path() + "/record").value_or(""), "one\ntwo\none\ntwo\ntwo\none\n");
    const auto failing = throughput({"--dut", "/bin/false", "--contender", "one,two"});
    EXPECT_EQ(failing.exitCode, 1);
    EXPECT_THAT(failing.output, HasSubstr("one          not measured: '/bin/false one' failed"));
}

TEST_F(Cabled, MachineThatForwardsNothingIsShownWithTheReason) {
    test::must(fmt::format("ip -n {} link set m1 nomaster", there_->name()));
    const auto run = throughput({});
    EXPECT_EQ(run.exitCode, 1);
    EXPECT_THAT(run.output, HasSubstr("not measured: it does not forward correctly: 0 of 3 frames arrived"));
}

TEST_F(Cabled, InterfacesThatAreInUseOrUselessAreRefused) {
    const auto refused = [&](const std::string& words, std::vector<std::string> more = {}) {
        const auto run = throughput(std::move(more));
        EXPECT_EQ(run.exitCode, 2) << run.output;
        EXPECT_THAT(run.output, HasSubstr(words));
    };
    const auto at = "ip -n " + here_->name() + " ";
    refused("there is no interface 'nic7'", {"--rx", "nic7"});
    refused("MTU of 1500, frames of 9000 bytes need 8986", {"--sizes", "64,9000"});
    refused("on the machine under test itself", {"--rules", "5"});
    test::must(at + "address add 192.0.2.1/24 dev nic0");
    refused("'nic0' is in use: it has the address 192.0.2.1/24");
    test::must(at + "route add default dev nic0");
    refused("it carries the default route");
    EXPECT_EQ(throughput({"--force"}).exitCode, 0);
    test::must(at + "address flush dev nic0");
    test::must(at + "link add br0 type bridge");
    test::must(at + "link set nic1 master br0");
    refused("'nic1' is in use: it belongs to br0");
    test::must(at + "link set nic1 nomaster");
    test::must(at + "link set nic1 down");
    refused("'nic1' is down: ip link set nic1 up");
}

TEST_F(Cabled, KillLeavesInterfacesAsTheyWere) {
    const auto before = state();
    const auto inside = here_->enter();
    const pid_t front = ::fork();
    if (front == 0) {
        ::execl(TNA_BENCH, TNA_BENCH, "throughput", "--tx", "nic0", "--rx", "nic1", "--cpus", "1", "--rounds",
                "1000", "--tnad", TNAD, nullptr);
        ::_exit(127);
    }
    EXPECT_TRUE(test::eventually([&] { return state().find("prog/xdp") != std::string::npos; }));
    const auto worker =
        std::atoi(readFile(fmt::format("/proc/{0}/task/{0}/children", front)).value_or("0").c_str());
    ::kill(worker > 0 ? worker : front, SIGKILL);
    ::waitpid(front, nullptr, 0);
    EXPECT_GT(worker, 0);
    EXPECT_TRUE(test::eventually([&] { return state() == before; })) << state();
}

} // namespace
} // namespace tna::bench
