// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "bench/delays/settings.hpp"
#include "bench/traffic/generators/rings.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <span>

namespace tna::bench {

/// An AF_XDP socket that receives and sends one frame at a time, as its settings say.
class FrameSocket {
public:
    /// On queue 0 of a device of the calling thread's namespace. `sockets` is the map by which the device's
    /// program finds it; `polls`: wait() waits in poll(2).
    [[nodiscard]] static Result<std::unique_ptr<FrameSocket>>
    open(const std::string& device, Settings settings, bool polls, int sockets);

    /// Whether there can be one; it gets no frames.
    [[nodiscard]] static Result<void> tryOut(const std::string& device, Settings settings);

    struct Received {
        std::uint64_t address;
        std::span<unsigned char> bytes;
    };
    /// What has come, if anything has.
    [[nodiscard]] std::optional<Received> receive();
    /// Its memory takes another frame from now on.
    void giveBack(const Received& frame) { fill_.push(frame.address); }
    /// Sends it from where it lies; its memory takes another frame as soon as it is out.
    [[nodiscard]] Result<void> reflect(const Received& frame);
    /// Where a frame is written that send() sends.
    [[nodiscard]] std::span<unsigned char> outgoing();
    [[nodiscard]] Result<void> send(std::size_t length);
    /// Whether the kernel has told it whose work busy polling does; known once something has come.
    [[nodiscard]] bool knowsNapi() const;
    /// What is to be done while nothing comes: nothing at all, a system call by which the driver works, or to
    /// wait for so long.
    void wait(std::chrono::nanoseconds patience);

private:
    FrameSocket(Settings settings, bool polls) : settings_(settings), polls_(polls) {}
    [[nodiscard]] bool setUp(const std::string& device);
    [[nodiscard]] Result<void> transmit(std::uint64_t address, std::size_t length);
    void takeCompleted();

    Settings settings_;
    bool polls_;
    Mapping memory_;
    UniqueFd socket_;
    Ring<std::uint64_t> fill_;
    Ring<std::uint64_t> completed_;
    Ring<xdp_desc> received_;
    Ring<xdp_desc> transmit_;
    unsigned nextOutgoing_ = 0;
};

} // namespace tna::bench
