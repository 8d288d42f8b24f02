// SPDX-License-Identifier: Apache-2.0
#include "service.hpp"

#include "frame.hpp"
#include "program/messages.hpp"

#include <cstring>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tna::nat64 {

namespace {
constexpr std::size_t tagRoom = 4; ///< that is needed in front of what is given back

Layer2 layerOf(const tna_frame& frame) {
    return layer2Of({frame.data, frame.length});
}

/// 0: it cannot be asked for.
int mtuOf(const char* port) {
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    ifreq request{};
    std::strncpy(request.ifr_name, port, sizeof(request.ifr_name) - 1);
    const bool known = ::ioctl(fd, SIOCGIFMTU, &request) == 0;
    ::close(fd);
    return known ? request.ifr_mtu : 0;
}
} // namespace

/// Packets grow: a device that sends what it gets has to take more than what IPv4's side does.
void Service::warnOfMtu() const {
    constexpr int usual = 1500, grown = usual + header6 - header4 + fragmentHeader;
    for (unsigned port = 0; !options_.givesBack() && port < tna_function_ports(function_.get()); port++) {
        const char* const name = tna_function_port_name(function_.get(), port);
        const int mtu = name != nullptr ? mtuOf(name) : 0;
        if (mtu != 0 && mtu < grown)
            program::tell(
                "tna-nat64",
                fmt::format("{} has an MTU of {}: IPv4 packets of {} bytes become longer, and are lost "
                            "(ip link set {} mtu {}, its other end as well)",
                            name, mtu, usual, name, grown));
    }
}

int Service::serve(std::chrono::milliseconds longest) {
    const auto frames = function_.receive(longest);
    if (const auto connections = tna_function_connections(function_.get()); connections != connections_) {
        connections_ = connections;
        warnOfMtu();
    }
    const auto now = static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begun_).count());
    if (auto* const sessions = translator_.sessions(); sessions != nullptr && now != expired_) {
        sessions->expire(now);
        expired_ = now;
    }
    for (auto& frame : frames)
        treat(frame, now);
    return function_.error();
}

void Service::treat(tna_frame& frame, std::uint32_t now) {
    statistics_.received++;
    std::uint32_t front = 0, end = 0;
    if (tna_function_room(function_.get(), &frame, &front, &end) != 0 || front < tagRoom)
        return dispose(frame, Reason::noRoom);
    Buffer buffer{frame.data - (front - tagRoom), frame.data, frame.length};
    const auto [fate, reason] = translateFrame(translator_, buffer, now);
    if (fate == Fate::leftAlone)
        return dispose(frame, reason);
    if (fate == Fate::spoilt)
        return discard(frame, reason);
    frame.data = buffer.data;
    frame.length = static_cast<std::uint32_t>(buffer.length);
    const bool six = layerOf(frame).etherType() == etherType6;
    if (!leave(frame)) {
        statistics_.count(Reason::notSent);
        statistics_.dropped++;
        return;
    }
    if (fate == Fate::answered) {
        statistics_.count(reason);
        statistics_.answered++;
    } else {
        (six ? statistics_.to6 : statistics_.to4)++;
    }
}

/// Linux may know what to do with what is not for the translator; by the port that it came in by, if that is
/// where Linux has the translator's frames from.
void Service::dispose(const tna_frame& frame, Reason reason) {
    const bool isLinuxs = reason == Reason::notIp || reason == Reason::notOurs ||
                          reason == Reason::malformed || reason == Reason::noBinding;
    if (!options_.givesBack() || !isLinuxs)
        return discard(frame, reason);
    statistics_.count(reason);
    (function_.giveBack(frame) ? statistics_.givenBack : statistics_.dropped)++;
}

void Service::discard(const tna_frame& frame, Reason reason) {
    statistics_.count(reason);
    function_.drop(frame);
    statistics_.dropped++;
}

bool Service::leave(const tna_frame& frame) {
    const auto layer = layerOf(frame);
    const Buffer packet{frame.data, frame.data + layer.length, frame.length - layer.length};
    if (isTooLong(packet, translator_.limits().mtu6))
        return leaveSplit(frame);
    return options_.givesBack() ? function_.giveBack(frame) : function_.send(frame, frame.port);
}

bool Service::leaveSplit(const tna_frame& frame) {
    const auto layer = layerOf(frame);
    bool all = true;
    split({frame.data + layer.length, frame.length - layer.length}, translator_.limits().mtu6,
          [&](auto headers, auto piece) {
              all = all && leavePiece(frame, {layer.bytes.data(), layer.length}, headers, piece);
          });
    function_.drop(frame);
    return all;
}

bool Service::leavePiece(const tna_frame& whole, std::span<const std::uint8_t> layer2,
                         std::span<const std::uint8_t> headers, std::span<const std::uint8_t> piece) {
    tna_frame frame{};
    if (tna_function_new_frame(function_.get(), &frame) != 0)
        return false;
    const auto length = layer2.size() + headers.size() + piece.size();
    std::uint32_t front = 0, end = 0;
    if (tna_function_room(function_.get(), &frame, &front, &end) != 0 || end < length) {
        function_.drop(frame);
        return false;
    }
    auto* at = std::ranges::copy(layer2, frame.data).out;
    at = std::ranges::copy(headers, at).out;
    std::ranges::copy(piece, at);
    frame.length = static_cast<std::uint32_t>(length);
    frame.port = whole.port;
    frame.queue = whole.queue;
    statistics_.fragmentsMade++;
    return options_.givesBack() ? function_.giveBack(frame) : function_.send(frame, frame.port);
}

std::string Service::statistics() {
    tna_function_counts counts{};
    tna_function_count(function_.get(), &counts);
    const auto* const sessions = translator_.sessions();
    return options_.json ? asJson(statistics_, sessions, counts) : inWords(statistics_, sessions, counts);
}

} // namespace tna::nat64
