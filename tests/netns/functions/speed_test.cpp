// SPDX-License-Identifier: Apache-2.0
// How long it takes to hand frames over to a process, and to have them back when it is killed: the numbers of
// docs/functions.md (--gtest_also_run_disabled_tests --gtest_filter='HandOver*').
#include "netns/functions/functions_fixture.hpp"

#include <algorithm>
#include <csignal>
#include <iostream>
#include <thread>
#include <tna/function.hpp>

namespace tna::test {
namespace {

using Clock = std::chrono::steady_clock;

class HandOver : public StartedFunctionsTest {
protected:
    static constexpr unsigned turns = 200;
    static double sinceMs(Clock::time_point begun) {
        return std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
    }
    static void tell(const char* what, std::vector<double> times) {
        std::ranges::sort(times);
        std::cout << what << ": median " << times.at(times.size() / 2) << " ms, worst " << times.back()
                  << " ms of " << times.size() << "\n";
    }
};

TEST_F(HandOver, DISABLED_ToAProcess) {
    ASSERT_EQ(declare("dns", dnsFunction), "");
    tna_function_options options = TNA_FUNCTION_OPTIONS;
    const auto path = functionSocket();
    options.socket = path.c_str();
    // The kernel lets go of a queue some time after its socket was closed. Nothing tells when: who would ask,
    // by a socket of his own, would be the next to leave it. So a queue that is free is one left a while ago.
    for (const bool justLeft : {false, true}) {
        std::vector<double> connected, first;
        for (unsigned turn = 0; turn < turns; turn++) {
            ASSERT_TRUE(becomes("dns", "nobody"));
            std::this_thread::sleep_for(std::chrono::milliseconds(justLeft ? 0 : 100));
            const auto begun = Clock::now();
            NetworkFunction function{"dns", options};
            ASSERT_TRUE(function.usable()) << function.why();
            // gives the kernel places; before, what tnad could not hand over yet is asked for again
            while (tna_function_connections(function.get()) == 0)
                (void)function.receive(std::chrono::milliseconds(1));
            (void)function.receive(std::chrono::milliseconds(0));
            connected.push_back(sinceMs(begun));
            far(0).send(toPort(53));
            ASSERT_EQ(function.receive(std::chrono::milliseconds(1000)).size(), 1U);
            first.push_back(sinceMs(begun));
        }
        std::cout << (justLeft ? "a queue that somebody has just left\n" : "a queue that is free\n");
        tell("connected, from the call on", connected);
        tell("the first frame, from the call on", first);
    }
}

TEST_F(HandOver, DISABLED_BackToLinux) {
    ASSERT_EQ(declare("dns", dnsFunction), "");
    std::vector<double> times;
    unsigned lost = 0;
    for (unsigned turn = 0; turn < turns / 8; turn++) {
        startWorkload("drop", "dns");
        ASSERT_TRUE(becomes("dns", "connected"));
        far(0).send(toPort(53));
        const auto begun = Clock::now();
        workload_->signal(SIGKILL);
        std::optional<Frame> arrived;
        while (!arrived) {
            far(0).send(toPort(53));
            arrived = far(1).receive(std::chrono::milliseconds(0));
            lost += arrived ? 0 : 1;
        }
        times.push_back(sinceMs(begun));
        workload_.reset();
        (void)far(1).drain();
    }
    tell("the next frame is Linux's, from SIGKILL on", times);
    std::cout << "frames that were sent until then, and not forwarded by then: " << lost << "\n";
}

} // namespace
} // namespace tna::test
