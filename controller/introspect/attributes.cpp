// SPDX-License-Identifier: Apache-2.0
#include "introspect/attributes.hpp"

#include <algorithm>

namespace tna::introspect {

std::string Attribute::text() const {
    const auto* start = reinterpret_cast<const char*>(payload.data());
    return {start, std::find(start, start + payload.size(), '\0')};
}

std::optional<Attribute> takeAttribute(Bytes& rest) {
    nlattr header{};
    if (rest.size() < sizeof(header))
        return std::nullopt;
    std::memcpy(&header, rest.data(), sizeof(header));
    if (header.nla_len < sizeof(header) || header.nla_len > rest.size())
        return std::nullopt;
    Attribute attribute{static_cast<std::uint16_t>(header.nla_type & NLA_TYPE_MASK),
                        rest.subspan(sizeof(header), header.nla_len - sizeof(header))};
    const std::size_t aligned = (header.nla_len + std::size_t{3}) & ~std::size_t{3};
    rest = rest.subspan(std::min(aligned, rest.size()));
    return attribute;
}

} // namespace tna::introspect
