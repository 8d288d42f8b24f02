// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <libmnl/libmnl.h>
#include <limits>
#include <span>
#include <vector>

namespace tna::netlink {

/// A netlink request: a fixed header and attributes.
class Request {
public:
    template <typename Header>
    Request(int type, int flags, const Header& header)
        : buffer_(MNL_NLMSG_HDRLEN + MNL_ALIGN(sizeof(Header))) {
        auto* message = mnl_nlmsg_put_header(buffer_.data());
        message->nlmsg_type = static_cast<std::uint16_t>(type);
        message->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
        std::memcpy(mnl_nlmsg_put_extra_header(message, sizeof(Header)), &header, sizeof(Header));
    }
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

    void put(std::uint16_t type, std::uint32_t value) { put(type, &value, sizeof value); }
    void put(std::uint16_t type, std::span<const std::uint8_t> value) {
        put(type, value.data(), value.size());
    }
    void put(std::uint16_t type, const char* text) { put(type, text, std::strlen(text) + 1); }

    /// A header within an attribute, before those that it holds.
    template <typename Header>
    void append(const Header& header) {
        const auto at = message().nlmsg_len;
        buffer_.resize(at + MNL_ALIGN(sizeof(Header)));
        std::memcpy(&buffer_[at], &header, sizeof(Header));
        message().nlmsg_len = static_cast<std::uint32_t>(buffer_.size());
    }

    /// An attribute that holds those which `fill` puts.
    template <typename Fill>
    void nest(std::uint16_t type, Fill&& fill) {
        const auto at = message().nlmsg_len;
        put(static_cast<std::uint16_t>(type | NLA_F_NESTED), std::span<const std::uint8_t>{});
        fill(*this);
        reinterpret_cast<nlattr*>(&buffer_[at])->nla_len =
            static_cast<std::uint16_t>(message().nlmsg_len - at);
    }

    /// Until the next attribute.
    [[nodiscard]] nlmsghdr& message() { return *reinterpret_cast<nlmsghdr*>(buffer_.data()); }
    /// False: an attribute was longer than attributes can be, and was left out.
    [[nodiscard]] bool whole() const { return whole_; }

private:
    void put(std::uint16_t type, const void* value, std::size_t size) {
        if (size > std::numeric_limits<std::uint16_t>::max() - MNL_ATTR_HDRLEN) {
            whole_ = false;
            return;
        }
        buffer_.resize(message().nlmsg_len + MNL_ATTR_HDRLEN + MNL_ALIGN(size));
        mnl_attr_put(&message(), type, size, value);
    }

    std::vector<std::byte> buffer_;
    bool whole_ = true;
};

} // namespace tna::netlink
