// SPDX-License-Identifier: Apache-2.0
#include "netlink/attributes.hpp"

#include <algorithm>
#include <linux/netlink.h>

namespace tna::netlink {

namespace {

constexpr std::size_t aligned(std::size_t size) {
    return (size + 3U) & ~std::size_t{3};
}

} // namespace

std::optional<Attribute> Attributes::next(Bytes& rest) {
    const auto header = valueAt<nlattr>(rest);
    if (!header || header->nla_len < sizeof(nlattr) || header->nla_len > rest.size())
        return std::nullopt;
    const Attribute attribute{static_cast<std::uint16_t>(header->nla_type & NLA_TYPE_MASK),
                              rest.subspan(sizeof(nlattr), header->nla_len - sizeof(nlattr))};
    rest = rest.subspan(std::min(aligned(header->nla_len), rest.size()));
    return attribute;
}

std::optional<Attributes> Attributes::parse(Bytes bytes) {
    Bytes rest = bytes;
    while (next(rest)) {
    }
    // What is left is padding at most; anything else is an attribute that promises more than there is.
    if (rest.size() >= sizeof(nlattr))
        return std::nullopt;
    return Attributes(bytes);
}

std::optional<Bytes> Attributes::find(std::uint16_t type) const {
    Bytes rest = bytes_;
    while (const auto attribute = next(rest))
        if (attribute->type == type)
            return attribute->payload;
    return std::nullopt;
}

std::optional<Attributes> Attributes::nested(std::uint16_t type) const {
    return parse(find(type).value_or(Bytes{}));
}

std::string Attributes::text(std::uint16_t type) const {
    const auto bytes = find(type);
    if (!bytes)
        return {};
    const auto* begin = reinterpret_cast<const char*>(bytes->data());
    return {begin, std::find(begin, begin + bytes->size(), '\0')};
}

std::optional<Message> Message::next(Bytes& rest) {
    const auto header = valueAt<nlmsghdr>(rest);
    if (!header || header->nlmsg_len < sizeof(nlmsghdr) || header->nlmsg_len > rest.size())
        return std::nullopt;
    const Message message{header->nlmsg_type, header->nlmsg_flags, header->nlmsg_seq,
                          rest.subspan(sizeof(nlmsghdr), header->nlmsg_len - sizeof(nlmsghdr))};
    rest = rest.subspan(std::min(aligned(header->nlmsg_len), rest.size()));
    return message;
}

} // namespace tna::netlink
