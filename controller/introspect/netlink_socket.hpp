// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "introspect/attributes.hpp"

#include <functional>
#include <vector>

namespace tna::introspect {

using MessageHandler = std::function<void(const Message&)>;

/// A route netlink socket: dumps and notifications.
class NetlinkSocket {
public:
    /// `groups`: RTNLGRP_* to listen to; `receiveBuffer`: bytes, 0 for the default.
    [[nodiscard]] static Result<NetlinkSocket> open(const std::vector<unsigned>& groups, int receiveBuffer);

    /// Asks for a dump and handles its messages. `header` is the family's fixed header, with attributes
    /// where needed. Dumps that the kernel had to interrupt are asked for again.
    [[nodiscard]] Result<void> dump(std::uint16_t type, Bytes header, const MessageHandler& handle);

    enum class Drained { nothing, something, overrun };
    /// Handles what has arrived, without waiting.
    [[nodiscard]] Result<Drained> drain(const MessageHandler& handle);

    [[nodiscard]] int fd() const { return fd_.get(); }

private:
    explicit NetlinkSocket(UniqueFd fd) : fd_(std::move(fd)), buffer_(bufferSize) {}
    enum class Outcome { done, interrupted };
    [[nodiscard]] Result<Outcome> dumpOnce(std::uint16_t type, Bytes header, const MessageHandler& handle);
    static constexpr std::size_t bufferSize = 256 * 1024;
    UniqueFd fd_;
    std::vector<std::byte> buffer_;
    std::uint32_t sequence_ = 0;
};

/// Splits a datagram into messages; stops at anything malformed.
void forEachMessage(Bytes datagram, const std::function<void(const nlmsghdr&, const Message&)>& handle);

} // namespace tna::introspect
