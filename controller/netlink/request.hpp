// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <libmnl/libmnl.h>
#include <span>

namespace tna::netlink {

/// A netlink request: a fixed header and a few attributes.
class Request {
public:
    template <typename Header>
    Request(int type, int flags, const Header& header) {
        static_assert(sizeof(Header) <= 128);
        message_ = mnl_nlmsg_put_header(buffer_.data());
        message_->nlmsg_type = static_cast<std::uint16_t>(type);
        message_->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
        std::memcpy(mnl_nlmsg_put_extra_header(message_, sizeof(Header)), &header, sizeof(Header));
    }
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

    void put(std::uint16_t type, std::uint32_t value) { mnl_attr_put_u32(message_, type, value); }
    void put(std::uint16_t type, std::span<const std::uint8_t> value) {
        mnl_attr_put(message_, type, value.size(), value.data());
    }
    void put(std::uint16_t type, const char* text) { mnl_attr_put_strz(message_, type, text); }
    [[nodiscard]] nlmsghdr& message() { return *message_; }

private:
    alignas(nlmsghdr) std::array<std::byte, 256> buffer_{};
    nlmsghdr* message_ = nullptr;
};

} // namespace tna::netlink
