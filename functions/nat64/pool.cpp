// SPDX-License-Identifier: Apache-2.0
#include "pool.hpp"

#include <algorithm>
#include <charconv>

namespace tna::nat64 {

namespace {

constexpr std::uint32_t wellKnownEnd = 1024;
constexpr std::uint64_t everyPort = ~std::uint64_t{0}, evenPorts = 0x5555555555555555U;

/// "1024-65535"
std::optional<std::pair<std::uint16_t, std::uint16_t>> parseRange(std::string_view text) {
    std::uint16_t first = 0, last = 0;
    const auto* const end = text.data() + text.size();
    const auto begun = std::from_chars(text.data(), end, first);
    if (begun.ec != std::errc{} || begun.ptr == end || *begun.ptr != '-')
        return std::nullopt;
    const auto ended = std::from_chars(begun.ptr + 1, end, last);
    if (ended.ec != std::errc{} || ended.ptr != end || first == 0 || first > last)
        return std::nullopt;
    return std::pair(first, last);
}

/// The first number from `from` to `to` whose bit is 0, of those that `pattern` allows in each word.
std::optional<std::uint16_t> firstFree(const std::vector<std::uint64_t>& taken, std::uint32_t from,
                                       std::uint32_t to, std::uint64_t pattern) {
    for (auto word = from / 64; from <= to && word <= to / 64; word++) {
        auto free = ~taken[word] & pattern;
        if (word == from / 64)
            free &= everyPort << (from % 64);
        if (word == to / 64)
            free &= everyPort >> (63 - to % 64);
        if (free != 0)
            return static_cast<std::uint16_t>(word * 64 + static_cast<unsigned>(std::countr_zero(free)));
    }
    return std::nullopt;
}

} // namespace

Result<void> Pool::add(const std::string& text) {
    const auto colon = text.find(':');
    const auto prefix = parsePrefix4(text.substr(0, colon));
    if (!prefix)
        return std::unexpected(prefix.error());
    std::pair<std::uint16_t, std::uint16_t> range{1, 65535};
    if (colon != std::string::npos) {
        const auto parsed = parseRange(std::string_view(text).substr(colon + 1));
        if (!parsed)
            return fail("\"{}\": ports are a range from 1 to 65535, as in 192.0.2.1:20000-29999", text);
        range = *parsed;
    }
    const std::uint64_t count = std::uint64_t{1} << (32U - prefix->length);
    if (addresses_.size() + count > mostAddresses)
        return fail("\"{}\": a pool has {} addresses at most", text, mostAddresses);
    for (std::uint64_t i = 0; i < count; i++) {
        const auto address = prefix->address + static_cast<Address4>(i);
        if (!isUnicast(address) || contains(address))
            return fail("\"{}\": {} {}", text, nat64::text(address),
                        contains(address) ? "has been given before" : "is not a host's address");
        Entry entry{.address = address, .first = range.first, .last = range.second, .ports = {}};
        for (auto& ports : entry.ports)
            ports.left = range.second - range.first + 1U;
        addresses_.insert(std::ranges::upper_bound(addresses_, address, {}, &Entry::address),
                          std::move(entry));
    }
    return {};
}

Pool::Entry* Pool::find(Address4 address) {
    const auto found = std::ranges::lower_bound(addresses_, address, {}, &Entry::address);
    return found != addresses_.end() && found->address == address ? &*found : nullptr;
}

bool Pool::contains(Address4 address) const {
    return std::ranges::binary_search(addresses_, address, {}, &Entry::address);
}

std::optional<std::uint16_t> Pool::choose(const Entry& entry, const Ports& ports, std::uint16_t wanted,
                                          std::uint32_t random) {
    const auto isFree = [&](std::uint32_t port) { return (ports.taken[port / 64] >> (port % 64) & 1U) == 0; };
    if (wanted >= entry.first && wanted <= entry.last && isFree(wanted))
        return wanted;
    // ports below 1024 for those that are, if the pool has any
    const bool low = wanted < wellKnownEnd;
    std::uint32_t from = low ? entry.first : std::max<std::uint32_t>(entry.first, wellKnownEnd);
    std::uint32_t to = low ? std::min<std::uint32_t>(entry.last, wellKnownEnd - 1) : entry.last;
    const auto parity = wanted % 2 == 0 ? evenPorts : ~evenPorts;
    for (unsigned attempt = 0; attempt < 2; attempt++) {
        for (const auto pattern : {parity, everyPort}) {
            if (from > to)
                break;
            const auto start = from + random % (to - from + 1);
            auto found = firstFree(ports.taken, start, to, pattern);
            if (!found)
                found = firstFree(ports.taken, from, start, pattern);
            if (found)
                return found;
        }
        from = entry.first;
        to = entry.last;
    }
    return std::nullopt;
}

std::optional<Pool::Place> Pool::take(Kind kind, std::uint16_t wanted, std::uint64_t hash,
                                      std::uint32_t random) {
    for (std::size_t i = 0; i < addresses_.size(); i++) {
        auto& entry = addresses_[(hash + i) % addresses_.size()];
        auto& ports = entry.ports[static_cast<std::size_t>(kind)];
        if (ports.left == 0)
            continue;
        const auto port = choose(entry, ports, wanted, random);
        if (!port)
            continue;
        ports.taken[*port / 64U] |= std::uint64_t{1} << (*port % 64U);
        ports.left--;
        taken_++;
        return Place{entry.address, *port};
    }
    return std::nullopt;
}

void Pool::giveBack(Kind kind, const Place& place) {
    auto* const entry = find(place.address);
    auto& ports = entry->ports[static_cast<std::size_t>(kind)];
    ports.taken[place.port / 64U] &= ~(std::uint64_t{1} << (place.port % 64U));
    ports.left++;
    taken_--;
}

std::size_t Pool::size() const {
    std::size_t sum = 0;
    for (const auto& entry : addresses_)
        sum += kinds * (entry.last - entry.first + 1U);
    return sum;
}

} // namespace tna::nat64
