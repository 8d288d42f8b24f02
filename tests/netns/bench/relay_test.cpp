// SPDX-License-Identifier: Apache-2.0
// A device under test with set loss and delay: a relay in user space between d0 and d1. What it loses must
// come out exactly; how long it keeps frames is the least that any may take.
#include "bench/testbed/frame.hpp"
#include "bench/traffic/load.hpp"
#include "support/command.hpp"
#include "support/eventually.hpp"
#include "support/namespace.hpp"

#include <arpa/inet.h>
#include <deque>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

namespace tna::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto delay = std::chrono::milliseconds(5);
constexpr unsigned loseEvery = 10;

/// In the device's namespace, for as long as it lives.
class Relay {
public:
    explicit Relay(const NetNamespace& where) {
        const auto inside = NamespaceScope::enter(where);
        from_ = open("d0", ETH_P_ALL);
        to_ = open("d1", 0);
        thread_ = std::thread([this] { run(); });
    }
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;
    ~Relay() {
        stop_ = true;
        thread_.join();
    }
    [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

private:
    static UniqueFd open(const char* device, int protocol) {
        UniqueFd socket{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
        sockaddr_ll address{};
        address.sll_family = AF_PACKET;
        address.sll_protocol = htons(static_cast<std::uint16_t>(protocol));
        address.sll_ifindex = static_cast<int>(::if_nametoindex(device));
        // Enough for all that can come while this thread does not run.
        const int room = 64 << 20;
        EXPECT_EQ(::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)), 0);
        EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
        return socket;
    }
    void run() {
        std::deque<std::pair<Clock::time_point, Frame>> kept;
        std::uint64_t seen = 0;
        while (!stop_ || !kept.empty()) {
            Frame frame(largestFrame);
            sockaddr_ll origin{};
            socklen_t length = sizeof(origin);
            const auto size = ::recvfrom(from_.get(), frame.data(), frame.size(), 0,
                                         reinterpret_cast<sockaddr*>(&origin), &length);
            if (size > 0 && origin.sll_pkttype != PACKET_OUTGOING) {
                frame.resize(static_cast<std::size_t>(size));
                if (++seen % loseEvery == 0)
                    dropped_++;
                else
                    kept.emplace_back(Clock::now() + delay, std::move(frame));
            }
            for (; !kept.empty() && kept.front().first <= Clock::now(); kept.pop_front())
                EXPECT_GT(::send(to_.get(), kept.front().second.data(), kept.front().second.size(), 0), 0);
            if (size < 0) {
                pollfd ready{from_.get(), POLLIN, 0};
                ::poll(&ready, 1, 1);
            }
        }
    }
    UniqueFd from_;
    UniqueFd to_;
    std::atomic<bool> stop_{false};
    std::atomic<std::uint64_t> dropped_{0};
    std::thread thread_;
};

TEST(BenchRelay, SetLossComesOutExactlyAndNoFrameIsFasterThanTheSetDelay) {
    if (const auto why = test::cannotUseNamespaces(); !why.empty())
        GTEST_SKIP() << why;
    const bench::Setup setup;
    const auto topology = Topology::make(setup);
    ASSERT_TRUE(topology) << topology.error().sentence();
    {
        const auto inside = NamespaceScope::enter(topology->device());
        test::must("ip link delete br0");
    }
    auto traffic = Traffic::load(*topology, setup);
    ASSERT_TRUE(traffic) << traffic.error().sentence();
    ASSERT_TRUE((*traffic)->sink().watch(TrafficSink::Watch::latency));
    std::uint64_t dropped = 0;
    {
        const Relay relay{topology->device()};
        {
            const auto load = Load::paced(**traffic, 5'000);
            EXPECT_TRUE(test::eventually([&] { return (*traffic)->counters().sent > 500; }));
            ASSERT_TRUE(load->stop());
        }
        EXPECT_TRUE(test::eventually([&] {
            const auto now = (*traffic)->counters();
            return now.received + relay.dropped() == now.sent;
        }));
        dropped = relay.dropped();
    }
    const auto counted = (*traffic)->settle();
    EXPECT_EQ(counted.lost(), dropped);
    EXPECT_EQ(dropped, counted.sent / loseEvery);
    EXPECT_EQ(counted.late + counted.twice, 0U);
    const auto latencies = (*traffic)->sink().takeLatencies();
    EXPECT_EQ(latencies.total(), counted.received);
    const double least = std::chrono::duration<double, std::nano>(delay).count();
    EXPECT_GE(latencies.quantile(0), least * 0.98) << "within a bucket";
}

} // namespace
} // namespace tna::bench
