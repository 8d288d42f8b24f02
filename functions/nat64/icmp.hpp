// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tna::nat64 {

/// The first bytes of an ICMP error: type, code, and what is behind the checksum.
struct ErrorHead {
    std::uint8_t type = 0, code = 0;
    std::uint32_t rest = 0; ///< pointer or MTU, as in the message
    bool operator==(const ErrorHead&) const = default;
};

/// The counterpart in the other version of IP; nothing: there is none (RFC 7915, 4.2 and 5.2).
/// `length` is that of the packet that the error is about, for routers that say no MTU.
[[nodiscard]] std::optional<ErrorHead> errorHeadTo6(const ErrorHead& head, std::size_t length);
[[nodiscard]] std::optional<ErrorHead> errorHeadTo4(const ErrorHead& head);

} // namespace tna::nat64
