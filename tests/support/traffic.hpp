// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/packet_port.hpp"

#include <atomic>
#include <thread>

namespace tna::test {

/// Sends frames into a port, one after the other with a pause between them, from a thread of its own, until
/// it is stopped. Each frame is `first` with a number of its own in its last two bytes.
class Traffic {
public:
    Traffic(const PacketPort& port, Frame first);
    ~Traffic() { stop(); }
    Traffic(const Traffic&) = delete;
    Traffic& operator=(const Traffic&) = delete;

    void stop();
    [[nodiscard]] std::uint16_t sent() const { return sent_; }
    /// Waits until that many more have been sent.
    void waitFor(std::uint16_t more) const;
    /// The number of a frame, if it is one of these, whole.
    [[nodiscard]] std::optional<std::uint16_t> numberOf(const Frame& frame) const;

private:
    [[nodiscard]] Frame numbered(std::uint16_t number) const;

    Frame first_;
    std::atomic<std::uint16_t> sent_ = 0;
    std::atomic<bool> stopped_ = false;
    std::thread thread_;
};

} // namespace tna::test
