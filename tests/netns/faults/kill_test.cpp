// SPDX-License-Identifier: Apache-2.0
// The controller's process is killed at one call of bpf(2) or right after it, at each in turn: Linux goes on
// alone.
#include "base/file.hpp"
#include "change.hpp"
#include "faults_fixture.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace tna::test {
namespace {

class Killed : public FaultsTest, public ::testing::WithParamInterface<const char*> {
protected:
    /// Something that kills the process that does it; or does not, as says what is returned.
    static bool inAnotherProcess(const std::function<void()>& something) {
        const pid_t child = ::fork();
        if (child == 0) {
            something();
            ::_exit(0);
        }
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        return WIFSIGNALED(status);
    }
    void killAtEach(unsigned calls, const std::function<void(unsigned, Fault::Kill)>& until,
                    const std::function<void()>& afterwards) {
        ASSERT_GT(calls, 0U);
        unsigned killed = 0, tries = 0;
        for (const auto number : numbers(calls))
            for (const auto when : {Fault::Kill::before, Fault::Kill::after}) {
                SCOPED_TRACE("call " + std::to_string(number) + " of " + std::to_string(calls));
                tries++;
                killed += inAnotherProcess([&] { until(number, when); }) ? 1 : 0;
                EXPECT_TRUE(eventually(
                    [] { return command({"ip", "link", "show"}).output.find("xdp") == std::string::npos; }));
                afterwards();
                if (HasFailure())
                    return;
            }
        // Some calls are repeated now and then, so that the last ones are not always reached.
        EXPECT_GE(killed * 2, tries) << killed << " of " << tries;
    }
};

TEST_P(Killed, WhileItStarts) {
    config_.kernel.fdb = GetParam();
    startAgain(); // libbpf asks what the kernel can do once
    const auto calls = leastCallsOf(Call::bpf, [&] { startAgain(); });
    controller_.reset();
    killAtEach(
        calls,
        [&](unsigned number, Fault::Kill when) {
            const Fault fault(Call::bpf, number, when);
            startAgain();
        },
        [&] { expectAsPlainLinux(); });
}

TEST_P(Killed, WhileItObeysAChange) {
    config_.kernel.fdb = GetParam();
    const auto& change = *std::ranges::find(changes(), std::string("Joins"), &Change::name);
    startAgain();
    ASSERT_TRUE(controller_);
    run(change.commands);
    const auto calls = callsOf(Call::bpf, [&] { (void)controller_->onNetlink(); });
    run(change.undo);
    controller_.reset();
    killAtEach(
        calls,
        [&](unsigned number, Fault::Kill when) {
            startAgain();
            run(change.commands);
            const Fault fault(Call::bpf, number, when);
            (void)controller_->onNetlink();
        },
        [&] {
            expectAsPlainLinux();
            run(change.undo);
        });
}

/// Somebody else has its descriptors by then.
TEST_F(FaultsTest, KilledWhileAModuleIsRead) {
    const auto object = readFile(TNA_MODULE);
    ASSERT_TRUE(object);
    const HangingReader hanging;
    const pid_t child = ::fork();
    if (child == 0) {
        startAgain();
        (void)controller_->modules().place("module", *object, {}, false);
        ::_exit(0);
    }
    EXPECT_TRUE(eventually([] { return HangingReader::there(); }, std::chrono::seconds(20)));
    EXPECT_NE(command({"ip", "link", "show"}).output.find("xdp"), std::string::npos);
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    EXPECT_TRUE(
        eventually([] { return command({"ip", "link", "show"}).output.find("xdp") == std::string::npos; }));
    expectAsPlainLinux();
}

std::string nameOf(const ::testing::TestParamInfo<const char*>& info) {
    return std::string(info.param) == "mirror" ? "Mirror" : "InPlace";
}

INSTANTIATE_TEST_SUITE_P(Faults, Killed, ::testing::Values("auto", "mirror"), nameOf);

} // namespace
} // namespace tna::test
