// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/testbed/scenario.hpp"

#include <cstdint>
#include <vector>

namespace tna::bench {

constexpr unsigned smallestFrame = 64;
constexpr unsigned largestFrame = 9014; ///< an MTU of 9000

/// Destinations behind a router differ in as many bits.
constexpr unsigned scatterBits = 22;

/// No station of a flow has these: the MAC addresses of a router's two ports, and of the devices at their far
/// ends.
constexpr const char* generatorMac = "02:00:ff:00:01:02";
constexpr const char* ingressMac = "02:00:ff:00:01:01";
constexpr const char* egressMac = "02:00:ff:00:02:01";
constexpr const char* sinkMac = "02:00:ff:00:02:02";

using Frame = std::vector<unsigned char>;

/// What the programs write into each frame; the generator's CPU adds what is a flow's own.
struct FrameHead {
    Frame bytes;            ///< as sent in flow 0
    Frame back;             ///< the same the other way
    Frame forwarded;        ///< as it comes out
    Frame ownBits;          ///< 0xff where frames differ from each other
    std::size_t markAt = 0; ///< where the mark is by which the sink knows frames
    std::uint32_t sum = 0;  ///< of the IPv4 header's words in flow 0 but for its checksum
};

/// The frames of one scenario and size, to their last byte. A bridge's flow n goes from station 02:01:n to
/// station 02:00:n, n being four bytes; a router's to one of the addresses 100.64.0.0/10 or 2001:db8::/32; a
/// firewall's from another port as well. Behind NAT they come from 10.2.0.1 or fd00:2::1. Where a port is
/// forwarded, those addresses are the senders', who send to port 9 of 10.1.0.3 or fd00:1::3, which is port
/// 2009 of 10.2.0.2 or fd00:2::2.
class Frames {
public:
    Frames(Scenario scenario, unsigned size, unsigned vlan = 0, Protocol protocol = Protocol::udp)
        : scenario_(scenario), size_(size), vlan_(vlan), protocol_(protocol) {}

    [[nodiscard]] FrameHead head() const;
    [[nodiscard]] Frame sent(unsigned flow, std::uint32_t sequence = 0) const;
    /// From the sink's side to the generator's.
    [[nodiscard]] Frame back(unsigned flow) const;
    /// One that was forwarded, which is another hop behind a router.
    [[nodiscard]] Frame forwarded(unsigned flow, std::uint32_t sequence = 0) const;
    /// So large that a mark fits in; and that a time fits in behind it.
    [[nodiscard]] unsigned smallestMarked() const;
    [[nodiscard]] unsigned smallestTimed() const;

private:
    [[nodiscard]] Frame untagged(unsigned flow) const;
    [[nodiscard]] Frame ofBridge(unsigned flow) const;
    [[nodiscard]] Frame ofRouter(unsigned flow) const;
    [[nodiscard]] Frame ofRouter6(unsigned flow) const;
    [[nodiscard]] std::size_t tag() const { return vlan_ != 0 ? 4 : 0; }
    void translate(Frame& frame, bool back) const;
    [[nodiscard]] unsigned sourcePort(unsigned flow) const;
    [[nodiscard]] std::size_t network() const { return usesIpv6(scenario_) ? 40 : 20; }
    [[nodiscard]] std::size_t transport() const;
    [[nodiscard]] std::size_t markAt() const;
    Scenario scenario_;
    unsigned size_;
    unsigned vlan_;
    Protocol protocol_;
};

/// Those of each size.
[[nodiscard]] std::vector<Frames> framesOf(const Setup& setup);

/// How frames that arrived differ from what was expected of each flow, in any order; empty if they do not.
[[nodiscard]] std::string differences(const std::vector<Frame>& arrived, const std::vector<Frame>& expected);

} // namespace tna::bench
