// SPDX-License-Identifier: Apache-2.0
#include "diff/statistics.hpp"

#include "diff/words.hpp"

#include <array>
#include <sstream>
#include <vector>

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

} // namespace

std::string ownCounters(const std::string& file) {
    std::string found;
    const auto add = [&](const std::string& name, const std::string& value) {
        if (!mayDiffer(name))
            found += name + " " + value + "\n";
    };
    std::istringstream lines(file);
    for (std::string line, values; std::getline(lines, line);) {
        const auto names = wordsOf(line);
        if (names.empty())
            continue;
        if (!names.front().ends_with(':')) { // snmp6: one counter in a line
            if (names.size() == 2)
                add(names[0], names[1]);
            continue;
        }
        std::getline(lines, values); // snmp, netstat: a line of names, a line of values
        const auto numbers = wordsOf(values);
        const auto protocol = names.front().substr(0, names.front().size() - 1);
        for (std::size_t i = 1; i < names.size() && i < numbers.size(); i++)
            add(protocol + names[i], numbers[i]);
    }
    return found;
}

} // namespace tna::diff
