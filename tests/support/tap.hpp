// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.hpp"
#include "support/frame.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tna::test {

/// What a sender behind a tap leaves to the receiver: struct virtio_net_hdr, whose names the kernel's header
/// keeps from C++.
struct Unfinished {
    std::uint8_t flags = 0; ///< 1: the checksum is to be finished
    std::uint8_t gsoType = 0;
    std::uint16_t headerLength = 0;
    std::uint16_t gsoSize = 0;
    std::uint16_t checksumStart = 0;
    std::uint16_t checksumOffset = 0;
    bool operator==(const Unfinished&) const = default;
};

/// Of UDP over IPv4, without a tag: so many bytes of payload in each segment.
[[nodiscard]] inline Unfinished segmentsOfUdp(std::uint16_t bytes) {
    constexpr std::uint16_t udp = 14 + 20;
    return {.flags = 1,
            .gsoType = 5, // VIRTIO_NET_HDR_GSO_UDP_L4
            .headerLength = udp + 8,
            .gsoSize = bytes,
            .checksumStart = udp,
            .checksumOffset = 6};
}

/// A tap device of the calling thread's namespace, whose other end is in this process.
class Tap {
public:
    /// Nothing: this machine has no tap devices, or does not let us.
    [[nodiscard]] static std::optional<Tap> make(const std::string& name);

    /// One whose queue can be taken away: until it is back, the driver refuses what is redirected to it, as
    /// one does that has no transmit queue for a processor. Its index may be asked for.
    [[nodiscard]] static std::optional<Tap> makeWithQueues(const std::string& name, unsigned index = 0);
    void takeQueueAway() const;
    void giveQueueBack() const;

    void send(const Frame& frame, const Unfinished& unfinished = {}) const;
    /// What came out, without waiting.
    [[nodiscard]] std::vector<Frame> drain() const;
    /// Only frames to this station get out (TUNSETTXFILTER).
    void takeOnly(const Mac& station) const;
    /// No frame gets out, by a filter of the old kind (TUNATTACHFILTER).
    void attachFilterThatDropsAll() const;
    /// The same by a program (TUNSETFILTEREBPF).
    void setProgramThatDropsAll() const;

private:
    explicit Tap(UniqueFd fd) : fd_(std::move(fd)) {}
    UniqueFd fd_;
};

} // namespace tna::test
