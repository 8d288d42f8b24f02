// SPDX-License-Identifier: Apache-2.0
// Studies on interfaces that are named: veth ends stand in for cards, and another namespace for another
// machine.
#include "killed_program.hpp"
#include "studies.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace tna::bench {
namespace {

using ::testing::HasSubstr;

constexpr const char* shortDelays = "delays --intervals 0 --seconds 0.1 --rounds 1";

/// Interfaces that are cabled: a veth pair of this machine stands in for both, or reaches into another.
class StudiesOfInterfaces : public Studies {
protected:
    void SetUp() override {
        Studies::SetUp();
        if (IsSkipped())
            return;
        here_.emplace();
        there_.emplace();
    }
    void cable(const test::Namespace& where) {
        test::must(fmt::format("ip -n {} link add nic0 type veth peer name nic1 netns {}", here_->name(),
                               where.name()));
        for (const auto& [name, device] : {std::pair{here_->name(), "nic0"}, {where.name(), "nic1"}}) {
            test::must(fmt::format("ip -n {} link set {} up", name, device));
            test::must(fmt::format("ip netns exec {} ethtool -K {} gro on", name, device));
        }
        EXPECT_TRUE(test::eventually([&] { return state(where).find("NO-CARRIER") == std::string::npos; }));
    }
    /// What could be different afterwards.
    static std::string state(const test::Namespace& where) {
        return test::command(
                   {"sh", "-c",
                    fmt::format(
                        "ip -n {0} -d link; ip -n {0} address; ip netns exec {0} sh -c 'cat "
                        "/sys/class/net/nic*/napi_defer_hard_irqs /sys/class/net/nic*/gro_flush_timeout'",
                        where.name())})
            .output;
    }
    nlohmann::json measuredHere(const std::string& words) {
        const auto inside = here_->enter();
        return measured(words);
    }
    /// [yardstick]: whether it was measured.
    static std::map<std::string, bool> yardsticksOf(const nlohmann::json& document) {
        std::map<std::string, bool> found;
        for (const auto& one : document["yardsticks"])
            for (const auto& run : one["runs"])
                found[one["name"]] = run["not_measured"].is_null() && run["sent"] > 0;
        return found;
    }
    std::optional<test::Namespace> here_;
    std::optional<test::Namespace> there_;
};

const std::map<std::string, bool> withoutAddresses{
    {"loop", true}, {"xdp_echo", true}, {"udp_echo", false}, {"ping", false}};

TEST_F(StudiesOfInterfaces, DelaysBetweenTwoOfThisMachine) {
    cable(*here_);
    const auto before = state(*here_);
    const auto document = measuredHere(std::string{shortDelays} + " --tx nic0 --rx nic1");
    for (const auto& one : document["series"])
        for (const auto& run : one["runs"])
            EXPECT_TRUE(run["not_measured"].is_null() && run["sent"] > 0 && run["wrong"] == 0) << one.dump();
    EXPECT_EQ(yardsticksOf(document), withoutAddresses);
    EXPECT_EQ(state(*here_), before);
}

TEST_F(StudiesOfInterfaces, DelaysThroughAnotherMachineThatACommandMakesSendBack) {
    cable(*there_);
    const auto before = state(*there_);
    const auto document =
        measuredHere(fmt::format("{} --tx nic0 --dut 'ip netns exec {} {} delays --forward nic1 --on'",
                                 shortDelays, there_->name(), TNA_BENCH));
    for (const auto& one : document["series"])
        for (const auto& run : one["runs"])
            EXPECT_TRUE(run["not_measured"].is_null() && run["sent"] > 0 && run["wrong"] == 0) << one.dump();
    EXPECT_THAT(document["missing"].dump(), HasSubstr("zero_copy"));
    EXPECT_EQ(yardsticksOf(document), withoutAddresses);
    EXPECT_EQ(state(*there_), before);
}

TEST_F(StudiesOfInterfaces, AnotherMachineThatHasAnAddressIsPinged) {
    cable(*there_);
    test::must(fmt::format("ip -n {} address add 192.0.2.1/24 dev nic0", here_->name()));
    test::must(fmt::format("ip -n {} address add 192.0.2.2/24 dev nic1", there_->name()));
    const auto before = state(*there_);
    const auto document = measuredHere(fmt::format("{} --force --tx nic0 --dut 'ip netns exec {} {} delays "
                                                   "--force --forward nic1 --on' --address 192.0.2.2",
                                                   shortDelays, there_->name(), TNA_BENCH));
    EXPECT_EQ(yardsticksOf(document),
              (std::map<std::string, bool>{
                  {"loop", true}, {"xdp_echo", true}, {"udp_echo", true}, {"ping", true}}));
    EXPECT_EQ(state(*there_), before);
    const auto inside = here_->enter();
    for (const char* wrong :
         {"--tx nic0 --dut true --address there", "--tx nic0 --rx nic1 --address 192.0.2.2"})
        EXPECT_EQ(test::command({"sh", "-c", std::string{TNA_BENCH} + " delays --force " + wrong}).exitCode,
                  2);
}

TEST_F(StudiesOfInterfaces, ACommandThatSendsNothingBackIsNamed) {
    cable(*there_);
    const auto inside = here_->enter();
    const auto run = test::command({TNA_BENCH, "delays", "--tx", "nic0", "--dut", "echo no such machine;"});
    EXPECT_EQ(run.exitCode, 1);
    EXPECT_THAT(run.output, HasSubstr("no such machine"));
    const auto word = test::command({TNA_BENCH, "delays", "--forward", "nic0", "--on", "zero_cpoy"});
    EXPECT_EQ(word.exitCode, 2);
    EXPECT_THAT(word.output, HasSubstr("'zero_cpoy' names no settings"));
}

/// All that were measured in each round, with frames that were dropped or forwarded.
void areMeasured(const nlohmann::json& document, const std::vector<std::string>& names, std::size_t rounds) {
    std::set<std::string> seen;
    for (const auto& one : document["series"]) {
        const auto name = one["subject"].get<std::string>();
        if (std::ranges::find(names, name) == names.end())
            continue;
        seen.insert(name);
        ASSERT_EQ(one["runs"].size(), rounds) << one.dump();
        for (const auto& run : one["runs"])
            EXPECT_TRUE(run["not_measured"].is_null() && run["offered"] > 0 && run["handled"] > 0 &&
                        run["running"] == one["tenants"])
                << one.dump();
    }
    EXPECT_EQ(seen.size(), names.size());
}

bool hasDpdk() {
    return test::command({"pkg-config", "--exists", "libdpdk"}).exitCode == 0;
}

constexpr const char* shortTenants = "--sizes 64 --checksums 1 --rounds 2 --seconds 0.1 --tnad " TNAD;

TEST_F(StudiesOfInterfaces, TenantsOfThoseWhoDropAtTheFarEndOfACable) {
    cable(*here_);
    const auto before = state(*here_);
    const auto document = measuredHere(
        fmt::format("tenants --tx nic0 --rx nic1 --subjects xdp,linux,bridge --burdens cpu --tenants 0,2 {}",
                    shortTenants));
    areMeasured(document, {"xdp", "linux"}, 2);
    for (const auto& one : document["series"])
        if (one["subject"] == "bridge") {
            EXPECT_THAT(one["not_measured"].get<std::string>(), HasSubstr("between two cables"));
        }
    EXPECT_TRUE(document["machine_under_test"].is_null());
    EXPECT_EQ(state(*here_), before);
}

TEST_F(StudiesOfInterfaces, DpdkLeavesTheInterfaceToOthersAndAsItWas) {
    if (!hasDpdk())
        GTEST_SKIP() << "needs libdpdk-dev";
    cable(*here_);
    const auto before = state(*here_);
    const auto document = measuredHere(fmt::format(
        "tenants --tx nic0 --rx nic1 --subjects dpdk,dpdk-packet,dpdk-pmd,xdp --tenants 0 --pmd '--no-pci "
        "--no-huge -m 128 --vdev=net_af_packet0,iface=nic1' {}",
        shortTenants));
    areMeasured(document, {"dpdk", "dpdk-packet", "dpdk-pmd", "xdp"}, 2);
    EXPECT_EQ(state(*here_), before);
}

TEST_F(StudiesOfInterfaces, ADeviceThatOnlyDpdkHasIsNamedByItsAddress) {
    if (!hasDpdk())
        GTEST_SKIP() << "needs libdpdk-dev";
    cable(*here_);
    auto mac =
        test::command({"ip", "netns", "exec", here_->name(), "cat", "/sys/class/net/nic1/address"}).output;
    mac.pop_back();
    const auto document = measuredHere(fmt::format(
        "tenants --tx nic0 --rx {} --subjects dpdk-pmd,xdp --tenants 0 --pmd '--no-pci --no-huge -m 128 "
        "--vdev=net_af_packet0,iface=nic1' {}",
        mac, shortTenants));
    areMeasured(document, {"dpdk-pmd"}, 2);
    for (const auto& one : document["series"])
        if (one["subject"] == "xdp") {
            EXPECT_THAT(one["not_measured"].get<std::string>(), HasSubstr("only dpdk-pmd has"));
        }
}

TEST_F(StudiesOfInterfaces, DpdkThatIsKilledLeavesNoProgram) {
    if (!hasDpdk())
        GTEST_SKIP() << "needs libdpdk-dev";
    cable(*here_);
    const auto before = state(*here_);
    const auto inside = here_->enter();
    KilledProgram program{{TNA_BENCH, "tenants", "--tx", "nic0", "--rx", "nic1", "--subjects", "dpdk",
                           "--tenants", "0", "--sizes", "64", "--rounds", "100", "--tnad", TNAD}};
    // While it is measured: the sender's program is there, and that of DPDK, which tries others before.
    const auto isMeasured = [&] {
        const auto now = state(*here_);
        return now.find("name pass") != std::string::npos &&
               now.find("name xsk_def_prog") != std::string::npos;
    };
    ASSERT_TRUE(test::eventually(isMeasured, std::chrono::seconds(60))) << state(*here_);
    const auto own = fmt::format("tna-bench-{}-", program.working());
    // That it has no time for it: it is stopped until it is killed, with the program that has started it.
    unsigned stopped = 0;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", none))
        if (const auto words = readFile(entry.path() / "cmdline").value_or("");
            words.find("--file-prefix") != std::string::npos && words.find(own) != std::string::npos) {
            ::kill(std::atoi(entry.path().filename().c_str()), SIGSTOP);
            stopped++;
        }
    EXPECT_GE(stopped, 1U);
    program.kill(true, true);
    EXPECT_TRUE(test::eventually([&] { return state(*here_) == before; })) << state(*here_);
}

/// The command that has the other namespace be the machine under test. `ip netns exec` would hide control
/// groups.
std::string other(const test::Namespace& where, const std::string& more = {}) {
    return fmt::format("nsenter --net=/run/netns/{} {} tenants --drop nic1 {}", where.name(), TNA_BENCH,
                       more);
}

TEST_F(StudiesOfInterfaces, TenantsOfAnotherMachineThatDrops) {
    cable(*there_);
    const auto before = state(*there_);
    const auto document = measuredHere(
        fmt::format("tenants --tx nic0 --dut '{}' --subjects xdp,linux,bridge --burdens cpu --tenants 0,2 {}",
                    other(*there_), shortTenants));
    areMeasured(document, {"xdp", "linux"}, 2);
    EXPECT_TRUE(document["machine_under_test"]["cpus"].is_number());
    EXPECT_EQ(document["options"]["dut"], other(*there_));
    EXPECT_EQ(state(*there_), before);
}

TEST_F(StudiesOfInterfaces, DpdkOfAnotherMachine) {
    if (!hasDpdk())
        GTEST_SKIP() << "needs libdpdk-dev";
    cable(*there_);
    const auto before = state(*there_);
    const auto pmd = other(*there_, "--pmd \"--no-pci --no-huge -m 128 --vdev=net_af_packet0,iface=nic1\"");
    const auto document = measuredHere(fmt::format(
        "tenants --tx nic0 --dut '{}' --subjects dpdk,dpdk-pmd --tenants 0 {}", pmd, shortTenants));
    areMeasured(document, {"dpdk", "dpdk-pmd"}, 2);
    EXPECT_EQ(state(*there_), before);
}

TEST_F(StudiesOfInterfaces, AnotherMachineForwardsBesideItsTenants) {
    cable(*there_);
    test::must(fmt::format("ip -n {} link add nic2 type veth peer name nic3 netns {}", here_->name(),
                           there_->name()));
    test::must(fmt::format("ip -n {} link set nic2 up", here_->name()));
    test::must(fmt::format("ip netns exec {} ethtool -K nic2 gro on", here_->name()));
    test::must(fmt::format("ip -n {} link set nic3 up", there_->name()));
    ASSERT_TRUE(writeFile(
        file("as"), fmt::format("#!/bin/sh\necho $1 >> {0}/asked\nip -n {1} link show br0 > /dev/null 2>&1 "
                                "|| {{ ip -n {1} link add br0 type bridge; ip -n {1} link set br0 up; }}\n"
                                "ip -n {1} link set nic1 master br0; ip -n {1} link set nic3 master br0\n",
                                folder_->path(), there_->name())));
    std::filesystem::permissions(file("as"), std::filesystem::perms::owner_all);
    const auto document = measuredHere(
        fmt::format("tenants --tx nic0 --rx nic2 --dut '{}' --forward-as {} --subjects bridge,bridge-tna "
                    "--burdens cpu --tenants 0,2 {}",
                    other(*there_), file("as"), shortTenants));
    areMeasured(document, {"bridge", "bridge-tna"}, 2);
    EXPECT_THAT(*readFile(file("asked")), ::testing::StartsWith("bridge\nbridge-tna\n"));
}

TEST_F(StudiesOfInterfaces, TenantsOfAnotherMachineEndWithThisOne) {
    cable(*there_);
    const auto before = state(*there_);
    const auto inside = here_->enter();
    KilledProgram program{{TNA_BENCH, "tenants", "--tx", "nic0", "--dut",
                           other(*there_, "--disk " + folder_->path()), "--subjects", "xdp", "--burdens",
                           "cpu", "--tenants", "2", "--sizes", "64", "--rounds", "100", "--tnad", TNAD}};
    // Whoever knows the folder that they write to.
    const auto tenants = [&] {
        std::vector<std::string> found;
        std::error_code none;
        for (const auto& entry : std::filesystem::directory_iterator("/proc", none))
            if (const auto words = readFile(entry.path() / "cmdline");
                words && words->find(folder_->path()) != std::string::npos)
                found.push_back(entry.path());
        return found;
    };
    ASSERT_TRUE(test::eventually([&] { return state(*there_).find("prog/xdp") != std::string::npos; },
                                 std::chrono::seconds(60)));
    ASSERT_NE(program.working(), 0);
    EXPECT_GE(tenants().size(), 4U) << "here, there, and both tenants";
    program.kill(true, true);
    EXPECT_TRUE(test::eventually([&] { return tenants().empty() && state(*there_) == before; },
                                 std::chrono::seconds(30)))
        << ::testing::PrintToString(tenants()) << state(*there_);
}

TEST_F(StudiesOfInterfaces, WhatCannotBeTheMachineUnderTestIsRefused) {
    cable(*there_);
    const auto inside = here_->enter();
    const auto refused = [](const std::string& words, int code, const std::string& why) {
        const auto run = test::command(
            {"sh", "-c", std::string{TNA_BENCH} + " tenants --tnad " TNAD " --subjects xdp " + words});
        EXPECT_EQ(run.exitCode, code) << words;
        EXPECT_THAT(run.output, HasSubstr(why)) << words;
    };
    refused("--dut true", 2, "--dut has another machine drop: name --tx");
    refused("--tx nic0 --dut none", 2, "--dut has another machine drop");
    refused("--tx nic0 --dut true --rx nic1", 2, "--forward-as and --rx need each other");
    refused("--tx nic0 --rx nic1 --forward-as true", 2, "--forward-as is for a machine that --dut names");
    refused("--tx nic0 --dut true --vm /boot/vmlinuz", 2, "add them to the command of --dut");
    refused("--tx nic0 --dut 'echo who are you; true'", 1, "who are you");
    refused("--tx nic7 --dut true", 2, "there is no interface 'nic7'");
    test::must(fmt::format("ip -n {} address add 192.0.2.1/24 dev nic0", here_->name()));
    refused("--tx nic0 --dut true", 2, "'nic0' is in use");
    refused("--drop nic0", 2, "'nic0' is in use");
    const auto rubbish = test::command(
        {"sh", "-c",
         fmt::format(
             "printf 'x\n{{\"do\":\"dance\",\"question\":7}}\n{{\"do\":\"resume\",\"subject\":9}}\n' | {}",
             other(*there_))});
    EXPECT_EQ(rubbish.exitCode, 0) << rubbish.output;
    EXPECT_THAT(rubbish.output, HasSubstr("that is no question"));
    EXPECT_THAT(rubbish.output, HasSubstr("is not understood: is there the same tna-bench"));
    EXPECT_THAT(rubbish.output, HasSubstr("there is no such subject"));
}

} // namespace
} // namespace tna::bench
