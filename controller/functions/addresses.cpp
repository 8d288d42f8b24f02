// SPDX-License-Identifier: Apache-2.0
#include "functions/addresses.hpp"

#include <arpa/inet.h>
#include <charconv>

namespace tna::functions {

namespace {
std::optional<unsigned> number(const std::string& text, unsigned most) {
    unsigned value = 0;
    const auto* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    return error == std::errc{} && stopped == end && value <= most ? std::optional{value} : std::nullopt;
}

bool hasBitsBehind(const Prefix& prefix) {
    for (unsigned bit = prefix.length; bit < 128; bit++)
        if ((prefix.bytes.at(bit / 8) >> (7 - bit % 8) & 1U) != 0)
            return true;
    return false;
}
} // namespace

std::optional<Prefix> parsePrefix(const std::string& text) {
    const auto slash = text.find('/');
    const auto address = text.substr(0, slash);
    Prefix prefix{};
    if (::inet_pton(AF_INET, address.c_str(), prefix.bytes.data()) == 1)
        prefix.version = 4;
    else if (::inet_pton(AF_INET6, address.c_str(), prefix.bytes.data()) == 1)
        prefix.version = 6;
    else
        return std::nullopt;
    const unsigned longest = prefix.version == 4 ? 32 : 128;
    const auto length =
        slash == std::string::npos ? std::optional{longest} : number(text.substr(slash + 1), longest);
    if (!length)
        return std::nullopt;
    prefix.length = *length;
    return hasBitsBehind(prefix) ? std::nullopt : std::optional{prefix};
}

std::optional<PortRange> parsePorts(const std::string& text) {
    const auto dash = text.find('-');
    const auto first = number(text.substr(0, dash), 65535);
    const auto last = dash == std::string::npos ? first : number(text.substr(dash + 1), 65535);
    if (!first || !last || *first > *last)
        return std::nullopt;
    return PortRange{*first, *last};
}

std::vector<MaskedNumber> masksOf(const PortRange& range) {
    std::vector<MaskedNumber> parts;
    for (unsigned first = range.first; first <= range.last;) {
        unsigned size = 1;
        while (size < 65536 && first % (2 * size) == 0 && first + 2 * size - 1 <= range.last)
            size *= 2;
        parts.push_back({first, 65536 - size});
        first += size;
    }
    return parts;
}

} // namespace tna::functions
