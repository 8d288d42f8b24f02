// SPDX-License-Identifier: Apache-2.0
#include "diff/statistics.hpp"

#include "diff/words.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <numeric>
#include <sstream>

namespace tna::diff {

namespace {
/// Of all that arrives or is passed on; and of fragments and neighbours' talk, which time decides.
constexpr std::array forwarded = {
    "IpInReceives", "IpForwDatagrams", "IpExtInOctets", "IpExtInNoECTPkts", "IpExtInECT1Pkts",
    "IpExtInECT0Pkts", "IpExtInCEPkts", "IpExtOutOctets", "IpExtInMcastPkts", "IpOutRequests",
    "IpOutTransmits", "Ip6InReceives", "Ip6OutForwDatagrams", "Ip6InOctets", "Ip6OutOctets", "Ip6InNoECTPkts",
    "Ip6InECT1Pkts", "Ip6InECT0Pkts", "Ip6InCEPkts", "Ip6OutDiscards", "Ip6OutRequests", "Ip6OutTransmits",
    // Of devices without IPv6, to which somebody's reports come unasked.
    "Ip6InDiscards",
    // Also of a bridge's own questions, and of complaints about what the host's tunnels carry unasked.
    "IpInDelivers"};

bool mayDiffer(const std::string& name) {
    for (const auto* one : forwarded)
        if (name == one)
            return true;
    // Complaints that are limited by time, and what neighbours ask and tell each other.
    for (const auto* part : {"Icmp", "Mcast", "Reasm", "McastPkts"})
        if (name.find(part) != std::string::npos)
            return true;
    return false;
}

/// Each counter of a file.
void eachOf(const std::string& file,
            const std::function<void(const std::string& name, const std::string& value)>& take) {
    std::istringstream lines(file);
    for (std::string line, values; std::getline(lines, line);) {
        const auto names = wordsOf(line);
        if (names.empty())
            continue;
        if (!names.front().ends_with(':')) { // snmp6: one counter in a line
            if (names.size() == 2)
                take(names[0], names[1]);
            continue;
        }
        std::getline(lines, values); // snmp, netstat: a line of names, a line of values
        const auto numbers = wordsOf(values);
        const auto protocol = names.front().substr(0, names.front().size() - 1);
        for (std::size_t i = 1; i < names.size() && i < numbers.size(); i++)
            take(protocol + names[i], numbers[i]);
    }
}

} // namespace

std::string ownCounters(const std::string& file) {
    std::string found;
    eachOf(file, [&](const std::string& name, const std::string& value) {
        if (!mayDiffer(name))
            found += name + " " + value + "\n";
    });
    return found;
}

std::uint64_t forwardedBy(const std::string& file) {
    std::uint64_t found = 0;
    eachOf(file, [&](const std::string& name, const std::string& value) {
        if (name == "IpForwDatagrams" || name == "Ip6OutForwDatagrams")
            found += std::strtoull(value.c_str(), nullptr, 10);
    });
    return found;
}

std::optional<Difference> compareForwarded(std::uint64_t plain, std::uint64_t fast, const Figures& figures) {
    if (plain == fast + figures.fast)
        return std::nullopt;
    return Difference{
        0, "packets forwarded",
        fmt::format("  Linux: {}\n  tna:   {}, and {} by the fast path\n", plain, fast, figures.fast)};
}

std::optional<Difference> compareCounted(std::vector<std::size_t> lengths, const Figures& figures) {
    if (figures.fast > lengths.size())
        return Difference{
            0, "packets counted",
            fmt::format("  {} by the fast path, of {} that came out\n", figures.fast, lengths.size())};
    std::ranges::sort(lengths);
    const auto count = static_cast<std::ptrdiff_t>(figures.fast);
    const auto least = std::accumulate(lengths.begin(), lengths.begin() + count, std::uint64_t{0});
    const auto most = std::accumulate(lengths.end() - count, lengths.end(), std::uint64_t{0});
    if (figures.bytes >= least && figures.bytes <= most)
        return std::nullopt;
    return Difference{0, "bytes counted",
                      fmt::format("  {} by the fast path; the {} packets have {} to {}\n", figures.bytes,
                                  figures.fast, least, most)};
}

} // namespace tna::diff
