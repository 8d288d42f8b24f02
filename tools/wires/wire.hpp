// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "wires/frame.hpp"

#include <sys/socket.h>

namespace tna::wires {

/// The kernel takes the outer tag out of what a packet socket receives (skb_vlan_untag()) and hands it over
/// beside it, if the socket asks for PACKET_AUXDATA.
void putTagBack(msghdr& message, std::vector<std::uint8_t>& frame);

/// A packet socket on a device of the calling thread's namespace, for many frames at a time.
class Wire {
public:
    /// Of an end of a cable: sees what arrives there, not what is sent.
    [[nodiscard]] static Result<Wire> end(const std::string& interface) { return open(interface, Kind::end); }
    /// As a capturing user: sees both directions, and disturbs nobody.
    [[nodiscard]] static Result<Wire> tap(const std::string& interface) { return open(interface, Kind::tap); }
    /// As a DHCP client: with a filter for what is for it.
    [[nodiscard]] static Result<Wire> listener(const std::string& interface) {
        return open(interface, Kind::listener);
    }

    /// 0, or why the device did not take the frame.
    [[nodiscard]] int send(const Frame& frame) const;
    /// What has arrived since the last time, VLAN tags put back in. It is an error that some was lost for
    /// want of room.
    [[nodiscard]] Result<std::vector<Frame>> drain() const;
    /// Waits for something to arrive.
    [[nodiscard]] bool waits(int milliseconds) const;

private:
    enum class Kind { end, tap, listener };
    [[nodiscard]] static Result<Wire> open(const std::string& interface, Kind kind);
    explicit Wire(UniqueFd fd) : fd_(std::move(fd)) {}
    UniqueFd fd_;
};

} // namespace tna::wires
