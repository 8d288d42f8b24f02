// SPDX-License-Identifier: Apache-2.0
// How long deciding takes, without anything around it; nothing is expected: --gtest_also_run_disabled_tests.
#include "frames.hpp"

#include <chrono>

namespace tna::balancer::test {
namespace {

/// Nanoseconds for each of the frames, of many rounds; each is made again before it is treated.
double timeOf(Balancer& balancer, const std::vector<Bytes>& frames, Outcome outcome) {
    constexpr std::size_t wanted = 4'000'000;
    std::size_t done = 0;
    const auto begun = std::chrono::steady_clock::now();
    for (Bytes scratch; done < wanted;)
        for (const auto& frame : frames) {
            scratch = frame; // part of the time
            if (balancer.treat(scratch, 1000) != outcome)
                return -1;
            done++;
        }
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begun).count() /
           static_cast<double>(done);
}

TEST(Speed, DISABLED_OfSmallPackets) {
    for (const std::uint16_t clients : std::initializer_list<std::uint16_t>{1, 1000, 50000}) {
        auto text = services;
        text.replace(text.find("1000"), 4, "65536");
        Balancer balancer(configured(text), 1);
        std::vector<Bytes> there, back;
        for (std::uint16_t i = 0; i < clients; i++) {
            const auto port = static_cast<std::uint16_t>(i + 1000);
            there.push_back(frameOf(udpPacket({"198.51.100.2", "192.0.2.80", port, 53}, Bytes(18, 7))));
            back.push_back(frameOf(udpPacket({"10.0.1.11", "198.51.100.2", 5353, port}, Bytes(18, 7))));
        }
        const auto forwarded = timeOf(balancer, there, Outcome::forwarded);
        fmt::print("{} sessions: to a backend {:.0f} ns, from it {:.0f} ns\n", clients, forwarded,
                   timeOf(balancer, back, Outcome::replied));
    }
}

} // namespace
} // namespace tna::balancer::test
