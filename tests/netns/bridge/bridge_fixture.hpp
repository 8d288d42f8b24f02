// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/controller.hpp"
#include "support/command.hpp"
#include "support/eventually.hpp"
#include "support/fence.hpp"
#include "support/namespace.hpp"
#include "support/packet_port.hpp"
#include "support/starting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

namespace tna::test {

struct Condition;

/// How a frame was treated: counted by the fast path, by tna's own counters.
struct Path {
    std::uint64_t fast = 0;
    std::map<std::string, std::uint64_t> slow;
    bool operator==(const Path&) const = default;
};
void PrintTo(const Path& path, std::ostream* out);
inline Path fastPath() {
    return {1, {}};
}
inline Path slowPath(const std::string& reason) {
    return {0, {{reason, 1}}};
}

/// What came out at the far ends, port by port; ports without frames are not in it.
using Arrivals = std::map<unsigned, std::vector<Frame>>;

/// How a frame was treated, and what became of it.
struct Treatment {
    Path path;
    Arrivals out;
    bool operator==(const Treatment&) const = default;
};
void PrintTo(const Treatment& treatment, std::ostream* out);

/// A bridge br0 with ports p0, p1, p2 in a namespace that the test runs in, with the controller in this
/// process; far0, far1, far2 are the ports' other ends. TNA_TEST_FACE in the environment ("bond mode
/// balance-xor miimon 50"): the ports are devices of that kind, and m0, m1, m2 their members.
class BridgeTest : public ::testing::Test {
protected:
    void SetUp() override;
    /// What is fast and what is sure have never disagreed.
    void TearDown() override;
    /// The namespaces, and ports that belong to no bridge yet.
    void makePorts();
    /// Does something between the two.
    virtual void beforeTheBridge() {}
    /// Starts the controller; SetUp does not, for tests that configure something first.
    void accelerate(unsigned maxPorts = 1024);
    /// Takes in netlink notifications until the port's state is as wanted.
    [[nodiscard]] bool reaches(const std::string& port, const std::string& state);
    /// Whether the ports are accelerated at tcx: TNA_TEST_HOOK=tcx in the environment.
    [[nodiscard]] static bool atTcx();
    /// Whether the fast path reads nothing in place: TNA_TEST_FDB=mirror in the environment, or this kernel.
    [[nodiscard]] bool watched();
    /// Lets the controller see what Linux was told meanwhile, if the fast path does not see it by itself.
    void catchUp();
    void pump() { ASSERT_TRUE(controller_->onNetlink()); }
    /// Until the controller has judged the rules that there are: a packet says so.
    void rulesAreKnown();
    /// Makes stations known by sending: station(1) behind p0, station(2) behind p1.
    void learn();
    /// Sends a frame into a port and says how it was treated.
    Path send(const Frame& frame, unsigned port = 0) { return treat(frame, port).path; }
    /// The same, and what came out everywhere. What has arrived before is forgotten.
    Treatment treat(const Frame& frame, unsigned port = 0);
    /// Commands for a shell, each of which must succeed.
    static void run(const std::vector<std::string>& commands);
    /// Does what a condition needs once; skips the test where that is not to be had.
    void prepare(const Condition& condition);
    /// The yardstick is Linux itself: first the condition is set and the frame sent without the fast path.
    /// Then the same with it: every frame must come out where it came out before, from the first one sent
    /// after the call which set the condition returned; the controller is not run in between. And the fast
    /// path must be back with the first frame after the condition is gone; `usual` comes out then.
    void expectAsLinux(const Condition& condition, const Arrivals& usual);
    /// Until nothing that was sent is under way any more.
    void settle() const { fence_->pass(); }
    /// What has arrived, after settling.
    [[nodiscard]] virtual Arrivals arrivals();
    /// Until what a port gets comes out at these others.
    void opens(unsigned port, const std::vector<unsigned>& others);
    [[nodiscard]] std::optional<Frame> arrivesAt(unsigned port) { return far(port).receive(); }
    PacketPort& far(unsigned port) { return *farPorts_.at(port); }
    [[nodiscard]] Path counted(unsigned port);
    void inFar(const std::string& words);

    static Frame oneToTwo() { return FrameBuilder().ethernet(station(2), station(1)).udp(); }
    static Frame twoToOne() { return FrameBuilder().ethernet(station(1), station(2)).udp(); }

    std::optional<OneCpu> pinned_;
    std::optional<Namespace> dut_;
    std::optional<Namespace> farSide_;
    std::optional<NamespaceScope> scope_;
    std::map<unsigned, std::optional<PacketPort>> farPorts_;
    std::optional<Fence> fence_;
    bool disagrees_ = false; ///< on purpose
    bool ticking_ = false;   ///< time passes for the controller while something is waited for
    bool blind_ = false;     ///< the controller sees nothing while frames are sent
    /// What senders use, raw sockets, leaves nothing unfinished.
    /// Each frame is decided twice; and none is needed to refresh stations while a test runs. Rules leave
    /// packets to Linux, unless a test is about connections.
    config::Config config_{.ports = {.tcxKinds = {}, .finishedFrames = {"*"}},
                           .kernel = {.refresh = 1U << 30U, .selfCheck = 1},
                           .limits = {.flowsPerCpu = 256, .connections = 0},
                           .modules = {.directory = ""}};
    daemon::Seams seams_;
    std::unique_ptr<daemon::Controller> controller_;
};

/// The same with the controller started and the stations known.
class AcceleratedBridgeTest : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (!IsSkipped())
            accelerate();
        if (!IsSkipped())
            learn();
    }
};

} // namespace tna::test
