// SPDX-License-Identifier: Apache-2.0
#include "bench/delays/wire.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

namespace tna::bench {

namespace {
constexpr std::size_t room = 2048;

class LoopWire : public Wire {
public:
    std::span<unsigned char> outgoing() override { return memory_; }
    Result<void> send(std::size_t length) override {
        length_ = length;
        // As a forwarder does it.
        std::swap_ranges(memory_.begin(), memory_.begin() + 6, memory_.begin() + 6);
        return {};
    }
    std::optional<std::span<unsigned char>> receive() override {
        return length_ == 0 ? std::nullopt : std::optional{std::span{memory_}.first(length_)};
    }
    void release() override { length_ = 0; }
    void wait(std::chrono::nanoseconds) override {}

private:
    std::array<unsigned char, room> memory_{};
    std::size_t length_ = 0;
};

class UdpWire : public Wire {
public:
    explicit UdpWire(UniqueFd socket) : socket_(std::move(socket)) {}
    std::span<unsigned char> outgoing() override { return out_; }
    Result<void> send(std::size_t length) override {
        if (::send(socket_.get(), out_.data(), length, MSG_DONTWAIT) < 0 && errno != EAGAIN &&
            errno != ENOBUFS && errno != EINTR && errno != ECONNREFUSED)
            return failErrno(errno, "cannot send by a UDP socket");
        return {};
    }
    std::optional<std::span<unsigned char>> receive() override {
        const auto length = ::recv(socket_.get(), in_.data(), in_.size(), MSG_DONTWAIT);
        return length < 0 ? std::nullopt
                          : std::optional{std::span{in_}.first(static_cast<std::size_t>(length))};
    }
    void release() override {}
    void wait(std::chrono::nanoseconds patience) override {
        pollfd one{socket_.get(), POLLIN, 0};
        const timespec most{patience.count() / 1'000'000'000, patience.count() % 1'000'000'000};
        (void)::ppoll(&one, 1, &most, nullptr);
    }

private:
    UniqueFd socket_;
    std::array<unsigned char, room> out_{};
    std::array<unsigned char, room> in_{};
};
} // namespace

std::unique_ptr<Wire> makeLoopWire() {
    return std::make_unique<LoopWire>();
}

Result<std::unique_ptr<Wire>> makeUdpWire(const std::string& peer) {
    UniqueFd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(udpEchoPort);
    if (!socket || ::inet_pton(AF_INET, peer.c_str(), &address.sin_addr) != 1 ||
        ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
        return failErrno(errno, "cannot make a UDP socket to {}", peer);
    return std::make_unique<UdpWire>(std::move(socket));
}

} // namespace tna::bench
