// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/delays/frame_socket.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace tna::bench {

/// By which probes leave, and come back.
class Wire {
public:
    virtual ~Wire() = default;
    /// Where the next probe is written.
    [[nodiscard]] virtual std::span<unsigned char> outgoing() = 0;
    [[nodiscard]] virtual Result<void> send(std::size_t length) = 0;
    /// What has come, if anything has; it stays until release().
    [[nodiscard]] virtual std::optional<std::span<unsigned char>> receive() = 0;
    virtual void release() = 0;
    /// While nothing comes.
    virtual void wait(std::chrono::nanoseconds patience) = 0;
};

class SocketWire : public Wire {
public:
    explicit SocketWire(FrameSocket& socket) : socket_(socket) {}
    std::span<unsigned char> outgoing() override { return socket_.outgoing(); }
    Result<void> send(std::size_t length) override { return socket_.send(length); }
    std::optional<std::span<unsigned char>> receive() override {
        held_ = socket_.receive();
        return held_ ? std::optional{held_->bytes} : std::nullopt;
    }
    void release() override { socket_.giveBack(*held_); }
    void wait(std::chrono::nanoseconds patience) override { socket_.wait(patience); }

private:
    FrameSocket& socket_;
    std::optional<FrameSocket::Received> held_;
};

/// Hands back what it is given: what is measured is the prober alone.
[[nodiscard]] std::unique_ptr<Wire> makeLoopWire();
/// An ordinary socket of UDP, in the calling thread's namespace.
[[nodiscard]] Result<std::unique_ptr<Wire>> makeUdpWire(const std::string& peer);

constexpr std::uint16_t udpEchoPort = 7;

} // namespace tna::bench
