// SPDX-License-Identifier: Apache-2.0
#include "bench/delays/forwarder.hpp"

#include "bench/delays/wire.hpp"
#include "bench/traffic/traffic.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <sys/socket.h>

namespace tna::bench {

namespace {
/// How often it is asked whether to go on.
constexpr auto longestWait = std::chrono::milliseconds(50);
} // namespace

Result<Helper> Helper::start(const NetNamespace& where, unsigned cpu,
                             const std::function<Result<Step>()>& prepare) {
    std::promise<Result<void>> ready;
    auto known = ready.get_future();
    Helper helper{std::jthread([&where, cpu, &prepare, &ready](const std::stop_token& stop) {
        pinTo(cpu);
        const auto entered = where.enter();
        auto step = entered ? prepare() : Result<Step>(std::unexpected(entered.error()));
        // Nothing that was handed in is there any more afterwards.
        ready.set_value(step ? Result<void>{} : std::unexpected(step.error()));
        while (step && !stop.stop_requested() && (*step)()) {
        }
    })};
    if (auto result = known.get(); !result)
        return std::unexpected(result.error());
    return helper;
}

Result<Helper> startForwarder(const NetNamespace& where, const std::string& device, Settings settings,
                              int sockets) {
    return Helper::start(where, 0, [&]() -> Result<Helper::Step> {
        auto opened = FrameSocket::open(device, settings, settings.has(Knob::pollForwarder), sockets);
        if (!opened)
            return std::unexpected(opened.error());
        return [socket = std::shared_ptr<FrameSocket>(std::move(*opened))]() -> Result<void> {
            const auto frame = socket->receive();
            if (!frame) {
                socket->wait(longestWait);
                return {};
            }
            std::swap_ranges(frame->bytes.begin(), frame->bytes.begin() + 6, frame->bytes.begin() + 6);
            return socket->reflect(*frame);
        };
    });
}

Result<Helper> startUdpEcho(const NetNamespace& where, const std::string& address) {
    return Helper::start(where, 0, [&]() -> Result<Helper::Step> {
        auto socket = std::make_shared<UniqueFd>(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        sockaddr_in own{};
        own.sin_family = AF_INET;
        own.sin_port = htons(udpEchoPort);
        const timeval wait{0, std::chrono::microseconds(longestWait).count()};
        if (!*socket || ::inet_pton(AF_INET, address.c_str(), &own.sin_addr) != 1 ||
            ::setsockopt(socket->get(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) != 0 ||
            ::bind(socket->get(), reinterpret_cast<sockaddr*>(&own), sizeof(own)) != 0)
            return failErrno(errno, "cannot make a UDP socket on {}", address);
        return [socket]() -> Result<void> {
            std::array<unsigned char, 2048> packet{};
            sockaddr_in from{};
            socklen_t length = sizeof(from);
            const auto size = ::recvfrom(socket->get(), packet.data(), packet.size(), 0,
                                         reinterpret_cast<sockaddr*>(&from), &length);
            // As the forwarder does it.
            std::swap_ranges(packet.begin(), packet.begin() + 6, packet.begin() + 6);
            if (size > 0)
                (void)::sendto(socket->get(), packet.data(), static_cast<std::size_t>(size), 0,
                               reinterpret_cast<sockaddr*>(&from), length);
            return {};
        };
    });
}

} // namespace tna::bench
