// SPDX-License-Identifier: Apache-2.0
#include "address.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstring>
#include <fmt/format.h>

namespace tna::balancer {

namespace {
constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/// Every bit of the result depends on every bit of the value (the finalizer of splitmix64).
std::uint64_t mix(std::uint64_t value) {
    value = (value ^ value >> 30U) * 0xbf58476d1ce4e5b9U;
    value = (value ^ value >> 27U) * 0x94d049bb133111ebU;
    return value ^ value >> 31U;
}
} // namespace

Address Address::four(const std::uint8_t* bytes) {
    Address address;
    std::ranges::copy(mapped, address.bytes.begin());
    std::copy_n(bytes, 4, address.bytes.begin() + 12);
    return address;
}

Address Address::six(const std::uint8_t* bytes) {
    Address address;
    std::copy_n(bytes, 16, address.bytes.begin());
    return address;
}

bool Address::isFour() const {
    return std::equal(mapped.begin(), mapped.end(), bytes.begin());
}

bool Address::isSource() const {
    if (isFour()) // none, this host's own, groups, all
        return bytes[12] != 0 && bytes[12] != 127 && bytes[12] < 224;
    static constexpr std::array<std::uint8_t, 15> zeros{};
    const bool noneOrLoopback = std::equal(zeros.begin(), zeros.end(), bytes.begin()) && bytes[15] <= 1;
    return !noneOrLoopback && bytes[0] != 0xff;
}

std::optional<Address> parseAddress(const std::string& text) {
    std::array<std::uint8_t, 16> bytes{};
    if (::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1)
        return Address::four(bytes.data());
    if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1)
        if (const auto address = Address::six(bytes.data()); !address.isFour())
            return address;
    return std::nullopt;
}

std::string text(const Address& address) {
    std::array<char, INET6_ADDRSTRLEN> buffer{};
    return ::inet_ntop(address.isFour() ? AF_INET : AF_INET6, address.data(), buffer.data(), buffer.size());
}

std::string text(const Endpoint& endpoint) {
    return fmt::format(fmt::runtime(endpoint.address.isFour() ? "{}:{}" : "[{}]:{}"), text(endpoint.address),
                       endpoint.port);
}

std::uint64_t hashOf(const Endpoint& endpoint, std::uint64_t seed) {
    std::array<std::uint64_t, 2> words{};
    std::memcpy(words.data(), endpoint.address.bytes.data(), sizeof(words));
    auto hash = mix(seed + 0x9e3779b97f4a7c15U) ^ words[0];
    hash = mix(hash) ^ words[1];
    return mix(mix(hash) ^ endpoint.port);
}

std::optional<Mac> parseMac(const std::string& text) {
    constexpr std::size_t length = 17;
    Mac mac{};
    if (text.size() != length)
        return std::nullopt;
    for (std::size_t i = 0; i < mac.size(); i++) {
        const auto* const part = text.data() + 3 * i;
        const auto [end, error] = std::from_chars(part, part + 2, mac.at(i), 16);
        if (error != std::errc{} || end != part + 2 || (i + 1 < mac.size() && *end != ':'))
            return std::nullopt;
    }
    return (mac[0] & 1U) == 0 && mac != Mac{} ? std::optional(mac) : std::nullopt;
}

} // namespace tna::balancer
