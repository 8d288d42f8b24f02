// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/rules/invalid.hpp"
#include "assemble/rules/judge.hpp"

#include <array>
#include <cstdint>
#include <set>

namespace tna::assemble {

/// The functions that netfilter calls at pre-routing, at forward, at post-routing.
struct FunctionPlace {
    std::uint64_t list = 0; ///< where the kernel has them; 0: there are none
    unsigned number = 0;
    bool operator==(const FunctionPlace&) const = default;
};
using FunctionPlaces = std::array<FunctionPlace, 3>;

/// What the fast path has to know of the rules that packets of one protocol pass, to repeat what Linux did
/// with a flow's first packets.
struct FlowRules {
    bool tcp = false; ///< the rules are steady for it
    bool udp = false;
    bool untracked = false; ///< connection tracking sees none of these packets
    /// The rules are steady for packets that they exempt from connection tracking; if they exempt none, not.
    bool exemptTcp = false;
    bool exemptUdp = false;
    Invalid invalid = Invalid::depends;
    bool invalidDroppedEarly = false;      ///< at pre-routing, wherever they are to go
    bool invalidDroppedForHost = false;    ///< that are for this host; looked at for IPv4 only
    bool asksConnectionMark = false;       ///< what becomes of a packet may depend on its connection's mark
    bool finishesTcp = false;              ///< checksums that senders have left to hardware, perhaps
    bool finishesUdp = false;              ///< the same, but of DHCP
    bool tcpMarkedEarly = false;           ///< packets of it may get marks before they are routed
    bool invalidSomeEarly = false;         ///< at pre-routing, some of those that are dropped
    bool asksDevices = false;              ///< what is known depends on which devices there are
    std::vector<InvalidWay> invalidWays{}; ///< what is known where that depends on the devices
    FunctionPlaces functions{};
    /// TCP that connection tracking translates, too: packets that it calls invalid are not translated, and
    /// are dropped wherever they go.
    [[nodiscard]] bool translatedTcp() const {
        return tcp && (invalidDroppedEarly || (invalid == Invalid::dropped && invalidDroppedForHost));
    }
    /// The same of TCP where routing rules may ask for marks: what is invalid has none of its connection's.
    [[nodiscard]] bool tcpByMark() const { return tcp && (!tcpMarkedEarly || invalidDroppedEarly); }
    bool operator==(const FlowRules&) const = default;
};

/// The same of rules of bridges.
struct BridgeRules {
    bool tcp = false; ///< the rules are steady for it
    bool udp = false;
    bool calls = false; ///< br_netfilter is among the functions
    FunctionPlaces functions{};
    std::vector<RuleObstacle> obstacles; ///< why they are not steady
    bool operator==(const BridgeRules&) const = default;
};

struct RuleJudgement {
    std::uint32_t generation = 0; ///< of the rule sets that were judged; 0: none were
    FlowRules ipv4;
    FlowRules ipv6;
    std::vector<RuleObstacle> obstacles; ///< why the rules of these two are not steady
    BridgeRules bridge;
    bool operator==(const RuleJudgement&) const = default;
};

/// The rule sets, and where in the kernel that is which calls them.
struct RulesInPlace {
    model::RuleSet set;
    FunctionPlaces ipv4;
    FunctionPlaces ipv6;
    FunctionPlaces bridge;
};

/// Devices that matter to what becomes of invalid packets.
struct SpecialDevices {
    rules::RuleDevice loopback{
        .name = "lo", .ifindex = 1, .group = 0}; ///< nothing comes by it from elsewhere
    std::vector<rules::RuleDevice> others;       ///< by which packets may come and leave
    bool operator==(const SpecialDevices&) const = default;
};

/// Pure. `own` are the BPF programs that learn, which do nothing with packets.
[[nodiscard]] RuleJudgement judgeForFlows(RulesInPlace rules, const std::set<std::uint32_t>& own,
                                          const SpecialDevices& devices = {});

} // namespace tna::assemble
