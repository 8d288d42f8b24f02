// SPDX-License-Identifier: Apache-2.0
// TCP between two namespaces over accelerated ports, with all offloads as Linux sets them by default.
#include "bridge_fixture.hpp"
#include "support/transfer.hpp"

#include <thread>

namespace tna::test {
namespace {

class Tcp : public BridgeTest {
protected:
    /// A host with an address behind port p<number>, its network card with Linux's default settings.
    void host(unsigned number, Namespace& home) {
        const auto n = std::to_string(number);
        farPorts_.erase(number);
        must("ip link del p" + n);
        must("ip link add p" + n + " type veth peer name eth0 netns " + home.name());
        must("ip link set p" + n + " master br0 up");
        const auto inside = home.enter();
        must("ip addr add 10.0.0." + n + "/24 dev eth0");
        must("ip link set eth0 up");
    }
    void SetUp() override {
        BridgeTest::SetUp();
        if (IsSkipped())
            return;
        pinned_.reset();
        host(1, client_.emplace());
        host(2, server_.emplace());
    }
    void expectRightBytesBothWays() { transferBothWays(*client_, *server_, "10.0.0.2"); }
    static void everywhere(const std::vector<Namespace*>& homes, const std::string& words) {
        for (const auto* home : homes) {
            const auto inside = home->enter();
            must(words);
        }
    }

    std::optional<Namespace> client_;
    std::optional<Namespace> server_;
};

TEST_F(Tcp, WithDefaultOffloadsArrivesWhole) {
    ASSERT_NO_FATAL_FAILURE(accelerate());
    expectRightBytesBothWays();
    for (const unsigned port : {1U, 2U}) {
        if (!atTcx()) {
            EXPECT_GT(counted(port).slow["unfinished-checksum"], 0U);
            continue;
        }
        const auto counters = (*controller_->port("p" + std::to_string(port)))["port"];
        EXPECT_GT(counters["fast_packets"], 0U);
        EXPECT_GT(counters["fast_bytes"].get<double>() / counters["fast_packets"].get<double>(), 1514)
            << "segments are cut at the end of the way only";
    }
}

TEST_F(Tcp, WithReceivingOffloadArrivesWhole) {
    everywhere({&*client_, &*server_}, "ethtool -K eth0 gro on");
    ASSERT_NO_FATAL_FAILURE(accelerate());
    expectRightBytesBothWays();
}

/// Senders that finish their checksums are served by the fast path.
TEST_F(Tcp, WithoutSendingOffloadTakesTheFastPathAndArrivesWhole) {
    everywhere({&*client_, &*server_}, "ethtool -K eth0 gro on tx off");
    ASSERT_NO_FATAL_FAILURE(accelerate());
    expectRightBytesBothWays();
    EXPECT_GT(counted(1).fast, 0U);
    EXPECT_GT(counted(2).fast, 0U);
}

TEST_F(Tcp, SurvivesThatTheFastPathComesAndGoes) {
    everywhere({&*client_, &*server_}, "ethtool -K eth0 gro on tx off");
    ASSERT_NO_FATAL_FAILURE(accelerate());
    std::atomic<bool> done = false;
    std::thread switcher([&] {
        for (bool paused = true; !done; paused = !paused) {
            EXPECT_TRUE(controller_->pause(std::nullopt, paused));
            ::poll(nullptr, 0, 20);
        }
    });
    expectRightBytesBothWays();
    done = true;
    switcher.join();
}

} // namespace
} // namespace tna::test
