// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "route_watch.hpp"
#include "support/command.hpp"
#include "support/eventually.hpp"
#include "support/fence.hpp"
#include "support/namespace.hpp"
#include "support/packet_port.hpp"
#include "support/process.hpp"

#include <gtest/gtest.h>
#include <ostream>

namespace tna::test {

struct Setup {
    const char* name;
    int family;
    unsigned routes;
    bool accelerated;
};
inline void PrintTo(const Setup& setup, std::ostream* out) {
    *out << setup.name;
}

/// A router with BIRD, beside it tnad or not. It hears of the same routes from two neighbours by BGP, behind
/// p1 and p2, and prefers the first one's; packets to them come in by p0.
class BirdTest : public ::testing::TestWithParam<Setup> {
protected:
    static constexpr unsigned neighbours = 2;

    void SetUp() override;
    void TearDown() override;

    /// Tells the BIRD of a neighbour (1 or 2) something by its control socket.
    void tell(unsigned neighbour, const std::string& words);
    /// Until the kernel has told that every prefix is routed to this neighbour. Packets are sent all the
    /// while, and some more afterwards.
    void sendUntilRoutedTo(unsigned neighbour);
    /// Of these packets, those that were sent after the kernel had told that they are routed to this
    /// neighbour came out there, each one, and nowhere else.
    void expectArrivalsOnlyAt(unsigned neighbour);
    /// The far end of the link to a neighbour.
    void setLink(unsigned neighbour, const std::string& state);
    /// Of tnad, as it counts them.
    void expectFastPackets(std::uint64_t atLeast);

private:
    struct Sent {
        unsigned neighbour; ///< to which it was routed, by what the kernel had told; 0 if it was not
        std::vector<unsigned> arrivedAt;
    };

    void makePort(unsigned number, const Namespace& home);
    void makeConfigurations() const;
    [[nodiscard]] std::string file(const std::string& name) const { return directory_ + "/" + name; }
    [[nodiscard]] static std::string address(unsigned network, unsigned host);
    void startBird(const Namespace& home, const std::string& name);
    void startTnad();
    void sendRound();
    void takeArrivals();

    std::string directory_;
    std::optional<Namespace> sender_;
    std::optional<Namespace> router_;
    std::optional<Namespace> neighbourHome_[neighbours];
    std::vector<std::unique_ptr<Process>> processes_;
    std::optional<OneCpu> pinned_;
    std::optional<Fence> fence_;
    std::optional<PacketPort> from_;
    std::optional<PacketPort> at_[neighbours];
    std::optional<Prefixes> prefixes_;
    std::optional<RouteWatch> watch_;
    unsigned interfaces_[neighbours] = {};
    std::vector<Frame> frames_; ///< to some of the prefixes
    std::vector<unsigned> destinations_;
    std::vector<Sent> sent_;
};

} // namespace tna::test
