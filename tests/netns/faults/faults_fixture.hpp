// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bridge_fixture.hpp"
#include "fault.hpp"

#include <functional>

namespace tna::test {

/// Calls to the kernel that fail, each in turn. What frames meet afterwards is what plain Linux does, and
/// ports that are not accelerated say why.
class FaultsTest : public BridgeTest {
protected:
    /// Stations 1, 2, 3 behind p0, p1, p2; what comes in by p2 is dropped by a filter, and what leaves by it
    /// is captured.
    void SetUp() override;

    struct Steps {
        std::function<void()> prepare = [] {};
        std::function<void()> act; ///< whose calls go wrong
        std::function<void()> check;
    };
    /// Takes these steps again and again, while the first call goes wrong, the second one, and so on. Not
    /// each of them, unless TNA_TEST_FAULTS=all is in the environment.
    static void eachCall(Call call, int error, const Steps& steps);
    /// How many calls something makes.
    static unsigned callsOf(Call call, const std::function<void()>& something);
    /// The fewest of some times: a machine that is busy has some repeated.
    static unsigned leastCallsOf(
        Call call, const std::function<void()>& something, const std::function<void()>& prepare = [] {});
    /// Which of so many go wrong.
    static std::vector<unsigned> numbers(unsigned calls);
    /// A controller, if it starts with this fault.
    void startAgain();
    /// If it has started: ports are accelerated or tell why not. If not: the error says what to do.
    void expectReasons();
    /// Frames come out where plain Linux sends them, and are captured.
    void expectAsPlainLinux();
    /// Without faults all is fast again, at the latest after some ticks.
    void expectRecovery();

    static Frame oneToThree() { return FrameBuilder().ethernet(station(3), station(1)).udp(); }
    static Frame threeToOne() { return FrameBuilder().ethernet(station(1), station(3)).udp(); }

    std::optional<Error> refusal_; ///< why the controller has not started
    UniqueFd capture_;
};

} // namespace tna::test
