// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace tna::netlink {

using Bytes = std::span<const std::byte>;

/// A copy of the value at the start of `bytes`; netlink aligns to 4 only, so values are never read in place.
template <typename T>
[[nodiscard]] std::optional<T> valueAt(Bytes bytes) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (bytes.size() < sizeof(T))
        return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
}

struct Attribute {
    std::uint16_t type = 0; ///< without NLA_F_NESTED and NLA_F_NET_BYTEORDER
    Bytes payload;
};

/// A run of netlink attributes that has been checked from end to end.
class Attributes {
public:
    /// Nothing where a length contradicts the bytes that are there.
    [[nodiscard]] static std::optional<Attributes> parse(Bytes bytes);

    /// The next attribute of `rest`, which then starts behind it; nothing at the end.
    [[nodiscard]] static std::optional<Attribute> next(Bytes& rest);

    [[nodiscard]] std::optional<Bytes> find(std::uint16_t type) const;
    [[nodiscard]] bool has(std::uint16_t type) const { return find(type).has_value(); }

    /// Empty where it is absent; nothing where it is malformed.
    [[nodiscard]] std::optional<Attributes> nested(std::uint16_t type) const;

    /// Text up to the first NUL, empty where it is absent.
    [[nodiscard]] std::string text(std::uint16_t type) const;

    template <typename T>
    [[nodiscard]] std::optional<T> value(std::uint16_t type) const {
        const auto bytes = find(type);
        return bytes ? valueAt<T>(*bytes) : std::nullopt;
    }

    /// Leaves `out` as it is where the attribute is absent: older kernels do not send the newer ones.
    template <typename T>
    void take(std::uint16_t type, T& out) const {
        if constexpr (std::is_same_v<T, bool>) {
            if (const auto found = value<std::uint8_t>(type))
                out = *found != 0;
        } else if (const auto found = value<T>(type)) {
            out = *found;
        }
    }

    /// Whether none is of a later type.
    [[nodiscard]] bool within(std::uint16_t last) const {
        bool all = true;
        forEach([&](const Attribute& attribute) { all &= attribute.type <= last; });
        return all;
    }

    [[nodiscard]] Bytes bytes() const { return bytes_; }

    template <typename Function>
    void forEach(Function&& function) const {
        Bytes rest = bytes_;
        while (const auto attribute = next(rest))
            function(*attribute);
    }

private:
    explicit Attributes(Bytes bytes) : bytes_(bytes) {}
    Bytes bytes_;
};

/// One netlink message, its length checked against the bytes that are there.
struct Message {
    std::uint16_t type = 0;
    std::uint16_t flags = 0;
    std::uint32_t sequence = 0;
    Bytes payload;

    /// The next message of `rest`, which then starts behind it; nothing at the end or where it is malformed.
    [[nodiscard]] static std::optional<Message> next(Bytes& rest);

    /// The fixed header that starts the payload.
    template <typename Header>
    [[nodiscard]] std::optional<Header> header() const {
        return valueAt<Header>(payload);
    }

    /// The attributes behind a fixed header of that type; nothing where they are malformed.
    template <typename Header>
    [[nodiscard]] std::optional<Attributes> attributes() const {
        constexpr std::size_t size = (sizeof(Header) + 3U) & ~std::size_t{3};
        return payload.size() < size ? std::nullopt : Attributes::parse(payload.subspan(size));
    }
};

} // namespace tna::netlink
