// SPDX-License-Identifier: Apache-2.0
// What a study that is killed leaves: nothing, and interfaces that were named as they were.
#include "bench/delays/device_knobs.hpp"
#include "bench/testbed/last_will.hpp"
#include "in_folder.hpp"
#include "killed_program.hpp"
#include "support/command.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace tna::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Will : public InFolder {
protected:
    [[nodiscard]] std::string done() const { return folder_->path() + "/done"; }
    [[nodiscard]] bool isDone() const { return std::filesystem::exists(done()); }
    /// In this process, that touches a file.
    Result<LastWill> leave() {
        return LastWill::leave(
            [this]() -> Result<LastWill::Execute> { return [file = done()] { (void)writeFile(file, ""); }; });
    }
    /// Runs an action in a process that it kills.
    static void killedIn(const std::function<void()>& action) {
        const pid_t child = ::fork();
        if (child == 0) {
            action();
            ::_exit(1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself";
    }
};

TEST_F(Will, IsExecutedWhenTheProgramIsKilled) {
    killedIn([&] {
        const auto will = leave();
        if (will)
            ::kill(::getpid(), SIGKILL);
    });
    EXPECT_TRUE(test::eventually([&] { return isDone(); }));
}

TEST_F(Will, IsExecutedWhenTheProgramEndsWithoutAWord) {
    const pid_t child = ::fork();
    if (child == 0) {
        const auto will = leave();
        ::_exit(will ? 0 : 1);
    }
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(test::eventually([&] { return isDone(); }));
}

TEST_F(Will, IsNotExecutedWhereItIsRevoked) {
    {
        ASSERT_TRUE(leave());
    }
    EXPECT_FALSE(isDone()) << "the process that would do it has ended";
}

TEST_F(Will, IsExecutedByAProcessOfAnotherNameAndSession) {
    killedIn([&] {
        const auto will = leave();
        const auto own = fmt::format("/proc/{0}/task/{0}/children", ::getpid());
        const pid_t executor = std::atoi(readFile(own).value_or("0").c_str());
        const auto name = readFile(fmt::format("/proc/{}/comm", executor)).value_or("");
        if (name == "tna-last-will\n" && ::getsid(executor) == executor)
            ::kill(::getpid(), SIGKILL);
    });
    EXPECT_TRUE(test::eventually([&] { return isDone(); }));
}

TEST_F(Will, OfTwoNeitherWaitsForTheOther) {
    killedIn([&] {
        const auto first = leave();
        const auto second = LastWill::leave([]() -> Result<LastWill::Execute> {
            return [] { std::this_thread::sleep_for(std::chrono::hours(1)); };
        });
        if (first && second)
            ::kill(::getpid(), SIGKILL);
    });
    EXPECT_TRUE(test::eventually([&] { return isDone(); }));
    // That one would sleep for an hour.
    for (const auto& entry : std::filesystem::directory_iterator("/proc"))
        if (readFile(entry.path() / "comm").value_or("") == "tna-last-will\n" &&
            readFile(entry.path() / "cmdline").value_or("").find("netns_bench") != std::string::npos)
            ::kill(std::atoi(entry.path().filename().c_str()), SIGKILL);
}

TEST_F(Will, ThatCannotBePreparedIsTold) {
    const auto will =
        LastWill::leave([]() -> Result<LastWill::Execute> { return fail("there is no such device"); });
    ASSERT_FALSE(will);
    EXPECT_THAT(will.error().sentence(), HasSubstr("there is no such device"));
}

/// A device that has coalescing, after a fashion: that of frames.
class Coalescing : public Will {
protected:
    void SetUp() override {
        Will::SetUp();
        if (IsSkipped())
            return;
        where_.emplace();
        if (test::command({"ip", "-n", where_->name(), "tuntap", "add", "dev", "tap0", "mode", "tap"})
                .exitCode != 0)
            GTEST_SKIP() << "this kernel has no tap devices";
        inNamespace("ethtool -C tap0 rx-frames 7");
        inNamespace("sh -c 'echo 3 > /sys/class/net/tap0/napi_defer_hard_irqs'");
        inNamespace("sh -c 'echo 4000 > /sys/class/net/tap0/gro_flush_timeout'");
    }
    std::string inNamespace(const std::string& words) const {
        return test::command({"sh", "-c", fmt::format("ip netns exec {} {}", where_->name(), words)}).output;
    }
    /// Frames that are held back, interrupts that are, and for how long.
    std::vector<std::string> state() const {
        const auto text =
            inNamespace("sh -c 'ethtool -c tap0 | grep ^rx-frames:; cat "
                        "/sys/class/net/tap0/napi_defer_hard_irqs /sys/class/net/tap0/gro_flush_timeout'");
        std::vector<std::string> lines;
        std::istringstream stream{text};
        for (std::string line; std::getline(stream, line);)
            lines.push_back(line.substr(line.find_last_of(" \t") + 1));
        return lines;
    }
    /// As a study does, and more: what the driver can be told is told by somebody else.
    bool change(DeviceKnobs& knobs) const {
        Settings settings = usualSettings();
        settings.set(Knob::busyPoll, true);
        if (!knobs.apply(settings))
            return false;
        inNamespace("ethtool -C tap0 rx-frames 9");
        return state() == std::vector<std::string>{"9", "2", "200000"};
    }
    std::optional<test::Namespace> where_;
};

TEST_F(Coalescing, IsAsFoundAfterTheProgramWasKilled) {
    killedIn([&] {
        const auto where = NetNamespace::named(where_->name());
        auto knobs = DeviceKnobs::open(*where, "tap0");
        if (knobs && change(*knobs))
            ::kill(::getpid(), SIGKILL);
    });
    EXPECT_TRUE(test::eventually([&] { return state() == std::vector<std::string>{"7", "3", "4000"}; }))
        << ::testing::PrintToString(state());
}

TEST_F(Coalescing, IsAsFoundAfterTheProgramHasEnded) {
    const auto where = NetNamespace::named(where_->name());
    {
        auto knobs = DeviceKnobs::open(*where, "tap0");
        ASSERT_TRUE(knobs) << knobs.error().sentence();
        ASSERT_TRUE(change(*knobs)) << ::testing::PrintToString(state());
    }
    EXPECT_THAT(state(), ElementsAre("7", "3", "4000"));
}

TEST_F(Coalescing, WithoutTimesIsMissing) {
    const auto where = NetNamespace::named(where_->name());
    const auto knobs = DeviceKnobs::open(*where, "tap0");
    ASSERT_TRUE(knobs) << knobs.error().sentence();
    for (const Knob direction : {Knob::rxCoalescing, Knob::txCoalescing})
        EXPECT_THAT(knobs->whyNoCoalescing(direction), HasSubstr("has no coalescing"));
    EXPECT_THAT(state(), ElementsAre("7", "3", "4000"));
}

class Killed : public InFolder, public ::testing::WithParamInterface<std::pair<bool, bool>> {};

TEST_P(Killed, TheFarEndPutsItsInterfaceBack) {
    const test::Namespace here;
    test::must(fmt::format("ip -n {0} link add nic0 type veth peer name nic1", here.name()));
    test::must(fmt::format("ip -n {} link set nic0 up", here.name()));
    test::must(fmt::format("ip -n {} link set nic1 up", here.name()));
    test::must(fmt::format("ip netns exec {} ethtool -K nic1 gro on", here.name()));
    const auto deferred = [&] {
        return test::command({"ip", "netns", "exec", here.name(), "cat",
                              "/sys/class/net/nic1/napi_defer_hard_irqs",
                              "/sys/class/net/nic1/gro_flush_timeout"})
            .output;
    };
    const auto before = deferred();
    const auto idle = IdleKnob::whyMissing().empty() ? "" : "deep_idle,";
    KilledProgram program{{"/bin/ip", "netns", "exec", here.name(), TNA_BENCH, "delays", "--forward", "nic1",
                           "--on", fmt::format("{}busy_poll,rx_coalescing,tx_coalescing", idle)}};
    ASSERT_TRUE(test::eventually([&] { return deferred() == "2\n200000\n"; })) << deferred();
    ASSERT_NE(program.working(), 0);
    program.kill(GetParam().first, GetParam().second);
    EXPECT_TRUE(test::eventually([&] { return deferred() == before; })) << deferred();
}

TEST_P(Killed, NamespacesAndFoldersGo) {
    pid_t worker = 0;
    const auto left = [&] {
        std::vector<std::string> found;
        std::error_code none;
        for (const char* folder : {"/run/netns", "/tmp"})
            for (const auto& entry : std::filesystem::directory_iterator(folder, none))
                if (const auto name = entry.path().filename().string();
                    name.starts_with(fmt::format("tnab-{}-", worker)) ||
                    name.starts_with(fmt::format("tna-bench-{}-", worker)))
                    found.push_back(name);
        return found;
    };
    KilledProgram program{{TNA_BENCH, "delays", "--intervals", "0.01", "--rounds", "100"}};
    ASSERT_TRUE(test::eventually([&] {
        worker = program.working();
        return worker != 0 && left().size() >= 2;
    }));
    program.kill(GetParam().first, GetParam().second);
    EXPECT_TRUE(test::eventually([&] { return left().empty(); })) << ::testing::PrintToString(left());
}

INSTANTIATE_TEST_SUITE_P(
    Who, Killed, ::testing::Values(std::pair{true, false}, std::pair{false, true}, std::pair{true, true}),
    [](const auto& who) {
        return std::string{who.param.first ? "Working" : ""} + (who.param.second ? "Waiting" : "");
    });

} // namespace
} // namespace tna::bench
