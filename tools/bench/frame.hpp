// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/scenario.hpp"

#include <cstdint>
#include <vector>

namespace tna::bench {

constexpr unsigned smallestFrame = 64;
constexpr unsigned largestFrame = 1514;

/// Destinations behind a router differ in as many bits.
constexpr unsigned scatterBits = 22;

/// The MAC addresses of a router's two ports, and of the devices at their far ends.
constexpr const char* generatorMac = "02:00:00:00:01:02";
constexpr const char* ingressMac = "02:00:00:00:01:01";
constexpr const char* egressMac = "02:00:00:00:02:01";
constexpr const char* sinkMac = "02:00:00:00:02:02";

using Frame = std::vector<unsigned char>;

/// What the programs write into each frame; the generator's CPU adds what is a flow's own.
struct FrameHead {
    Frame bytes;            ///< as sent in flow 0
    std::size_t markAt = 0; ///< where the mark is by which the sink knows frames
    std::uint32_t sum = 0;  ///< of the IPv4 header's words in flow 0 but for its checksum
};

/// The frames of one scenario, to their last byte. A bridge's flow n goes from station 02:01:n to station
/// 02:00:n, n being four bytes; a router's to one of the addresses 100.64.0.0/10 or 2001:db8::/32.
class Frames {
public:
    Frames(Scenario scenario, unsigned size) : scenario_(scenario), size_(size) {}

    [[nodiscard]] FrameHead head() const;
    [[nodiscard]] Frame sent(unsigned flow) const;
    /// So large that a time fits in behind the mark.
    [[nodiscard]] unsigned smallestTimed() const;
    /// One that was forwarded, which is another hop behind a router.
    [[nodiscard]] Frame forwarded(unsigned flow) const;

private:
    [[nodiscard]] Frame ofBridge(unsigned flow) const;
    [[nodiscard]] Frame ofRouter(unsigned flow) const;
    [[nodiscard]] Frame ofRouter6(unsigned flow) const;
    Scenario scenario_;
    unsigned size_;
};

/// How frames that arrived differ from what was expected of each flow, in any order; empty if they do not.
[[nodiscard]] std::string differences(const std::vector<Frame>& arrived, const std::vector<Frame>& expected);

} // namespace tna::bench
