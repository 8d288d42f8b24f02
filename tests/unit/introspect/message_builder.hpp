// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "netlink/attributes.hpp"

#include <linux/netlink.h>
#include <string_view>
#include <vector>

namespace tna::test {

/// Builds netlink messages by hand.
class MessageBuilder {
public:
    template <typename Header>
    MessageBuilder(std::uint16_t type, const Header& header) {
        append(nlmsghdr{0, type, 0, 1, 0});
        append(header);
    }

    template <typename T>
    MessageBuilder& put(std::uint16_t type, const T& value) {
        append(nlattr{static_cast<std::uint16_t>(sizeof(nlattr) + sizeof(T)), type});
        append(value);
        return *this;
    }
    MessageBuilder& text(std::uint16_t type, std::string_view value) {
        append(nlattr{static_cast<std::uint16_t>(sizeof(nlattr) + value.size() + 1), type});
        for (const char c : value)
            bytes_.push_back(static_cast<std::byte>(c));
        bytes_.push_back(std::byte{0});
        align();
        return *this;
    }
    template <typename Function>
    MessageBuilder& nest(std::uint16_t type, Function&& fill) {
        const auto start = bytes_.size();
        append(nlattr{0, static_cast<std::uint16_t>(type | NLA_F_NESTED)});
        fill(*this);
        const auto length = static_cast<std::uint16_t>(bytes_.size() - start);
        std::memcpy(bytes_.data() + start, &length, sizeof length);
        return *this;
    }

    /// The message, its length filled in.
    [[nodiscard]] std::vector<std::byte> bytes() const { return cut(bytes_.size()); }

    /// Its first `size` bytes, the header claiming exactly those.
    [[nodiscard]] std::vector<std::byte> cut(std::size_t size) const {
        std::vector<std::byte> out(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(size));
        const auto length = static_cast<std::uint32_t>(size);
        if (size >= sizeof length)
            std::memcpy(out.data(), &length, sizeof length);
        return out;
    }
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }

private:
    template <typename T>
    void append(const T& value) {
        const auto at = bytes_.size();
        bytes_.resize(at + sizeof(T));
        std::memcpy(bytes_.data() + at, &value, sizeof(T));
        align();
    }
    void align() { bytes_.resize((bytes_.size() + 3U) & ~std::size_t{3}); }

    std::vector<std::byte> bytes_;
};

/// Decodes the message cut at every length, as the kernel would never send it, in memory that ends where the
/// message ends, so that a sanitizer sees any read behind it. `decode` also gets each byte set to 0 and 0xff.
template <typename Decode>
void decodeEveryMutilation(const MessageBuilder& builder, Decode&& decode) {
    const auto feed = [&](const std::vector<std::byte>& bytes) {
        netlink::Bytes rest(bytes);
        while (const auto message = netlink::Message::next(rest))
            decode(*message);
    };
    for (std::size_t size = 0; size <= builder.size(); ++size) {
        feed(builder.cut(size));
        auto whole = builder.bytes();
        feed({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
        for (const auto value : {std::byte{0}, std::byte{0xff}}) {
            if (size == builder.size())
                break;
            whole = builder.bytes();
            whole[size] = value;
            feed(whole);
        }
    }
}

template <typename Builder>
[[nodiscard]] netlink::Message firstMessage(const Builder& bytes) {
    netlink::Bytes rest(bytes);
    return netlink::Message::next(rest).value();
}

} // namespace tna::test
