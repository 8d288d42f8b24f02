// SPDX-License-Identifier: Apache-2.0
#include "diff/random/scenario.hpp"

#include "diff/random/packets.hpp"

#include <fmt/format.h>

namespace tna::diff {

std::unique_ptr<Source> Scenario::source() {
    return std::make_unique<Packets>(chance_, topology());
}

std::vector<Step> Scenario::commands(const std::vector<std::string>& lines) {
    std::vector<Step> steps;
    for (const auto& line : lines)
        steps.emplace_back(Command{line});
    return steps;
}

std::vector<Step> Scenario::change() {
    untilNext_ = SIZE_MAX;
    auto steps = std::exchange(undo_, {});
    if (!steps.empty() && !chance_.once(3))
        return steps;
    for (auto& step : newChange())
        steps.push_back(std::move(step));
    return steps;
}

std::vector<Step> Scenario::filter() {
    const auto which = port();
    switch (chance_.below(6)) {
    case 0:
        undoBy("tc qdisc del dev " + which + " clsact");
        return commands(
            {fmt::format("tc qdisc add dev {0} clsact && tc filter add dev {0} {1} protocol all u32 match "
                         "u32 0 0 flowid 1:1{2}",
                         which, chance_.oneOf({"ingress", "egress"}), chance_.oneOf({"", " action drop"}))});
    case 1:
        undoBy("tc qdisc del dev " + which + " root");
        return commands({fmt::format("tc qdisc add dev {} root {}", which,
                                     chance_.oneOf({"pfifo limit 1000", "prio", "pfifo_fast", "fq_codel"}))});
    case 2:
        undoBy("nft delete table netdev t");
        return commands({fmt::format(
            "nft add table netdev t && nft add chain netdev t c '{{ type filter hook {} device {} "
            "priority 0; policy {}; }}'",
            chance_.oneOf({"ingress", "egress"}), which, chance_.oneOf({"accept", "drop"}))});
    case 3:
        undoBy("nft delete table bridge t");
        return commands({fmt::format(
            "nft add table bridge t && nft add chain bridge t c '{{ type filter hook {} priority "
            "0; policy {}; }}'",
            chance_.oneOf({"prerouting", "forward", "postrouting", "input"}),
            chance_.oneOf({"accept", "drop"}))});
    case 4:
        undoBy("nft delete table inet t");
        return commands(
            {fmt::format("nft add table inet t && nft add chain inet t c '{{ type filter hook {} priority 0; "
                         "policy {}; }}'{}",
                         chance_.oneOf({"prerouting", "forward", "postrouting", "input", "output"}),
                         chance_.oneOf({"accept", "drop"}),
                         chance_.oneOf({"", " && nft add rule inet t c udp dport 53 drop",
                                        " && nft add rule inet t c tcp dport 80 counter accept"}))});
    default:
        return commands({fmt::format("ip link set {} promisc {}", which, chance_.oneOf({"on", "off"}))});
    }
}

std::vector<std::string> Scenario::largeFrames() {
    constexpr std::uint64_t purpose = 6;
    auto own = chance_.apart(purpose);
    if (own.once(2))
        return {};
    topology_.large = true;
    const auto first = own.below(ports), second = (first + 1 + own.below(ports - 1)) % ports;
    const bool all = own.once(2);
    std::vector<std::string> lines;
    for (unsigned i = 0; i < ports; i++)
        if (all || i == first || i == second)
            lines.push_back(fmt::format("ip link set p{} mtu 9000", i));
    return lines;
}

std::vector<Step> Scenario::capture() {
    const auto which = port();
    const auto verb = chance_.once(2) ? Directive::Verb::capture : Directive::Verb::listen;
    undoBy({Step{Directive{verb, which, false}}});
    return {Directive{verb, which, true}};
}

std::vector<Step> Scenario::carrier() {
    const auto which = port();
    undoBy({Step{Directive{Directive::Verb::carrier, which, true}}});
    return {Directive{Directive::Verb::carrier, which, false}};
}

} // namespace tna::diff
