// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <linux/netlink.h>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace tna::introspect {

using Bytes = std::span<const std::byte>;

/// One netlink attribute; its payload lies within the message, whatever the message says.
struct Attribute {
    std::uint16_t type = 0;
    Bytes payload;

    /// The number in the payload; nothing if the payload is too short for it.
    template <typename T>
        requires std::is_trivially_copyable_v<T>
    [[nodiscard]] std::optional<T> number() const {
        if (payload.size() < sizeof(T))
            return std::nullopt;
        T value{};
        std::memcpy(&value, payload.data(), sizeof(T));
        return value;
    }
    /// Up to the first NUL or the end.
    [[nodiscard]] std::string text() const;
};

/// Takes the next attribute off `rest`; nothing at the end and at anything malformed.
[[nodiscard]] std::optional<Attribute> takeAttribute(Bytes& rest);

template <typename Visit>
void forEachAttribute(Bytes bytes, Visit visit) {
    while (auto attribute = takeAttribute(bytes))
        visit(*attribute);
}

/// Stores a number into `target` if the attribute holds one of that size.
template <typename T>
void assign(const Attribute& attribute, T& target) {
    if (const auto value = attribute.number<T>())
        target = *value;
}

inline void assignFlag(const Attribute& attribute, bool& target) {
    if (const auto value = attribute.number<std::uint8_t>())
        target = *value != 0;
}

/// A message behind its netlink header, and the fixed header of its family taken off it.
struct Message {
    std::uint16_t type = 0;
    Bytes body;

    template <typename Header>
    [[nodiscard]] std::optional<Header> header() const {
        Attribute whole{0, body};
        return whole.number<Header>();
    }
    /// The attributes behind a fixed header.
    template <typename Header>
    [[nodiscard]] Bytes attributes() const {
        constexpr std::size_t size = (sizeof(Header) + 3) & ~std::size_t{3};
        return body.size() < size ? Bytes{} : body.subspan(size);
    }
};

} // namespace tna::introspect
