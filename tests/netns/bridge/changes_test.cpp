// SPDX-License-Identifier: Apache-2.0
// The configuration changes while frames flow, and the controller runs beside them: whatever comes out
// anywhere is a frame that was sent, whole and once, and afterwards all is fast again.
#include "bridge_fixture.hpp"
#include "support/traffic.hpp"

namespace tna::test {
namespace {

class Changes : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (IsSkipped())
            return;
        accelerate();
        if (IsSkipped())
            return;
        learn();
        pinned_.reset();
        follower_ = std::thread([this] {
            while (!stopped_) {
                pollfd waiting{controller_->netlinkFd(), POLLIN, 0};
                if (::poll(&waiting, 1, 10) > 0) {
                    EXPECT_TRUE(controller_->onNetlink());
                }
            }
        });
    }
    void TearDown() override {
        stopped_ = true;
        if (follower_.joinable())
            follower_.join();
    }
    /// Frames flow from station 1 to station 2 while `change` is done again and again.
    template <typename Change>
    void changeUnderTraffic(unsigned times, Change change) {
        Traffic traffic(far(0), oneToTwo());
        for (unsigned i = 0; i < times; i++) {
            traffic.waitFor(10);
            change(i);
        }
        traffic.waitFor(10);
        traffic.stop();
        expectOnlySent(traffic);
    }
    void expectOnlySent(const Traffic& traffic) {
        std::map<unsigned, std::map<std::uint16_t, unsigned>> seen;
        for (const auto& [number, port] : farPorts_)
            for (auto frame = port->receive(std::chrono::milliseconds(200)); frame;
                 frame = port->receive(std::chrono::milliseconds(200))) {
                const auto which = traffic.numberOf(*frame);
                if (which)
                    seen[number][*which]++;
                else if (*frame != twoToOne())
                    ADD_FAILURE() << "at port " << number << ": " << ::testing::PrintToString(*frame);
            }
        EXPECT_FALSE(seen.contains(0)) << "frames went back to where they came from";
        for (const auto& [port, frames] : seen)
            for (const auto& [which, times] : frames)
                EXPECT_EQ(times, 1U) << "frame " << which << " at port " << port;
    }
    /// The station answers until it is known, then frames to it are fast.
    void expectFastAgain() {
        EXPECT_TRUE(eventually(
            [&] {
                far(1).send(twoToOne());
                const auto before = counted(0).fast;
                far(0).send(oneToTwo());
                return eventually([&] { return counted(0).fast > before; }, std::chrono::milliseconds(100));
            },
            std::chrono::seconds(30)));
    }

    std::thread follower_;
    std::atomic<bool> stopped_ = false;
};

TEST_F(Changes, PortsAreAddedAndDeleted) {
    changeUnderTraffic(8, [&](unsigned i) {
        const auto name = "q" + std::to_string(i % 2);
        command({"ip", "link", "del", name});
        must("ip link add " + name + " type veth peer name f" + name);
        must("ip link set f" + name + " up");
        must("ip link set " + name + " master br0 up");
    });
    expectFastAgain();
}

TEST_F(Changes, TheEgressPortLeavesTheBridgeAndComesBack) {
    changeUnderTraffic(8, [&](unsigned i) {
        must(i % 2 == 0 ? "ip link set p1 nomaster" : "ip link set p1 master br0");
        far(1).send(twoToOne());
    });
    expectFastAgain();
}

TEST_F(Changes, TheEgressPortIsRenamedAndDeletedAndMadeAnew) {
    changeUnderTraffic(6, [&](unsigned i) {
        switch (i % 3) {
        case 0:
            must("ip link set p1 down");
            must("ip link set p1 name x1");
            must("ip link set x1 up");
            break;
        case 1:
            farPorts_.erase(1);
            must("ip link del x1");
            break;
        default:
            must("ip link add p1 type veth peer name far1 netns " + farSide_->name());
            inFar("ip link set far1 up");
            inFar("ethtool -K far1 gro on");
            must("ip link set p1 master br0 up");
            const auto inside = farSide_->enter();
            farPorts_[1].emplace("far1");
        }
    });
    expectFastAgain();
}

TEST_F(Changes, AllAreStoppedAndResumed) {
    changeUnderTraffic(12, [&](unsigned i) { EXPECT_TRUE(controller_->pause(std::nullopt, i % 2 == 0)); });
    expectFastAgain();
}

/// Without the fast path nothing would be lost when the bridge's settings change; nothing is lost with it.
TEST_F(Changes, SettingsThatSwapTheProfileLoseNothing) {
    Traffic traffic(far(0), oneToTwo());
    std::uint16_t arrived = 0;
    // Now and then, for the port keeps so many frames only.
    const auto takeThem = [&] {
        for (const auto until = traffic.sent(); arrived < until; arrived++) {
            const auto frame = arrivesAt(1);
            ASSERT_TRUE(frame) << arrived << " of " << until << " arrived";
            ASSERT_EQ(traffic.numberOf(*frame), arrived) << ::testing::PrintToString(*frame);
        }
    };
    for (unsigned i = 0; i < 10 && !HasFatalFailure(); i++) {
        traffic.waitFor(10);
        must(std::string("bridge link set dev p0 learning ") + (i % 2 == 0 ? "off" : "on"));
        takeThem();
    }
    traffic.waitFor(10);
    traffic.stop();
    takeThem();
    expectFastAgain();
}

} // namespace
} // namespace tna::test
