// SPDX-License-Identifier: Apache-2.0
#include "address.hpp"

#include "bytes.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstring>
#include <string_view>

namespace tna::nat64 {

namespace {
/// Bits 64 to 71 are 0 in all such addresses (RFC 6052, 2.2).
constexpr unsigned reserved = 8;

/// Where in an address the four bytes are.
std::array<unsigned, 4> placesOf(unsigned prefixBytes) {
    std::array<unsigned, 4> places{};
    unsigned at = prefixBytes;
    for (auto& place : places) {
        if (at == reserved)
            at++;
        place = at++;
    }
    return places;
}

Result<std::pair<std::string, unsigned>> splitPrefix(const std::string& text, unsigned longest) {
    const auto slash = text.find('/');
    unsigned length = longest;
    if (slash != std::string::npos) {
        const auto* const end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, length);
        if (error != std::errc{} || stop != end || length > longest)
            return fail("\"{}\" is not a prefix: its length is from 0 to {}", text, longest);
    }
    return std::pair(text.substr(0, slash), length);
}
} // namespace

Result<Address4> parseAddress4(const std::string& text) {
    in_addr address{};
    if (::inet_pton(AF_INET, text.c_str(), &address) != 1)
        return fail("\"{}\" is not an IPv4 address", text);
    return ntohl(address.s_addr);
}

Result<Address6> parseAddress6(const std::string& text) {
    Address6 address{};
    if (::inet_pton(AF_INET6, text.c_str(), address.data()) != 1)
        return fail("\"{}\" is not an IPv6 address", text);
    return address;
}

std::string text(Address4 address) {
    return fmt::format("{}.{}.{}.{}", address >> 24U, address >> 16U & 0xffU, address >> 8U & 0xffU,
                       address & 0xffU);
}

std::string text(const Address6& address) {
    char text[INET6_ADDRSTRLEN];
    return ::inet_ntop(AF_INET6, address.data(), text, sizeof(text));
}

Result<Prefix4> parsePrefix4(const std::string& text) {
    const auto parts = splitPrefix(text, 32);
    if (!parts)
        return std::unexpected(parts.error());
    const auto address = parseAddress4(parts->first);
    if (!address)
        return std::unexpected(address.error());
    const Prefix4 prefix{*address, parts->second};
    if (prefix.length < 32 && (*address << prefix.length) != 0)
        return fail("\"{}\" has bits behind its prefix", text);
    return prefix;
}

bool isUnicast(Address4 address) {
    const auto first = address >> 24U;
    return first != 0 && first != 127 && first < 224 && address >> 16U != 0xa9fe;
}

bool isUnicast(const Address6& address) {
    static constexpr Address6 loopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    const bool linkLocal = address[0] == 0xfe && (address[1] & 0xc0U) == 0x80;
    return address[0] != 0xff && !linkLocal && address != loopback && address != Address6{};
}

bool isPrivate(Address4 address) {
    return address >> 24U == 10 || address >> 20U == 0xac1 || address >> 16U == 0xc0a8 ||
           address >> 22U == 0x191; // 10/8, 172.16/12, 192.168/16, 100.64/10
}

Result<Prefix> Prefix::parse(const std::string& text) {
    const auto parts = splitPrefix(text, 128);
    if (!parts)
        return std::unexpected(parts.error());
    const auto address = parseAddress6(parts->first);
    if (!address)
        return std::unexpected(address.error());
    static constexpr std::array lengths{32U, 40U, 48U, 56U, 64U, 96U};
    if (std::ranges::find(lengths, parts->second) == lengths.end())
        return fail("\"{}\" has no room for an IPv4 address: a prefix has 32, 40, 48, 56, 64 or 96 bits",
                    text);
    Prefix prefix;
    prefix.address_ = *address;
    prefix.bytes_ = parts->second / 8;
    if (std::any_of(address->begin() + prefix.bytes_, address->end(), [](auto byte) { return byte != 0; }))
        return fail("\"{}\" has bits behind its prefix", text);
    if (prefix.address_[reserved] != 0)
        return fail("\"{}\": bits 64 to 71 are 0 in such prefixes (RFC 6052)", text);
    return prefix;
}

Address6 Prefix::embed(Address4 address) const {
    Address6 result = address_;
    unsigned shift = 24;
    for (const auto place : placesOf(bytes_)) {
        result[place] = static_cast<std::uint8_t>(address >> shift);
        shift -= 8;
    }
    return result;
}

std::optional<Address4> Prefix::extract(const Address6& address) const {
    if (!std::equal(address.begin(), address.begin() + bytes_, address_.begin()) || address[reserved] != 0)
        return std::nullopt;
    Address4 result = 0;
    for (const auto place : placesOf(bytes_))
        result = result << 8U | address[place];
    return result;
}

bool Prefix::isWellKnown() const {
    static constexpr Address6 wellKnown{0, 0x64, 0xff, 0x9b};
    return bytes_ == 12 && address_ == wellKnown;
}

std::size_t Maps::Hash::operator()(const Address6& address) const {
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(address.data()), address.size()});
}

Result<void> Maps::add(const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos)
        return fail("\"{}\" is no pair of addresses, as in 192.0.2.1=2001:db8::1", text);
    const auto four = parseAddress4(text.substr(0, equals));
    const auto six = parseAddress6(text.substr(equals + 1));
    if (!four || !six)
        return std::unexpected(!four ? four.error() : six.error());
    if (by4_.contains(*four) || by6_.contains(*six))
        return fail("\"{}\": an address of it has been given before", text);
    by4_[*four] = *six;
    by6_[*six] = *four;
    return {};
}

std::optional<Address4> Maps::to4(const Address6& address) const {
    const auto found = by6_.find(address);
    return found == by6_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Address6> Maps::to6(Address4 address) const {
    const auto found = by4_.find(address);
    return found == by4_.end() ? std::nullopt : std::optional(found->second);
}

} // namespace tna::nat64
