// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/rules/packet.hpp"
#include "model/rule_set.hpp"

#include <string>
#include <vector>

namespace tna::assemble {

/// What is in the way of repeating for the packets of a flow what Linux did with the first ones.
struct RuleObstacle {
    model::RuleFamily family = model::RuleFamily::unspecified;
    std::string table;
    std::string chain;        ///< empty: the table as a whole, or something that is no table
    std::uint64_t handle = 0; ///< 0: no rule
    std::string rule;         ///< as text
    std::string reason;
    std::string hint;
    bool tcp = false; ///< for flows of which protocols
    bool udp = false;
    bool exempt = false; ///< for packets that rules exempt from connection tracking, and no others
    bool operator==(const RuleObstacle&) const = default;
};

struct JudgedChain {
    model::RuleFamily family = model::RuleFamily::unspecified;
    std::string table;
    std::string chain;
    std::string type;
    std::int32_t priority = 0;
    bool forNewOnly = false; ///< of the type nat: packets of established flows do not come there
    bool operator==(const JudgedChain&) const = default;
};

/// Flows of packets that rules exempt from connection tracking (`notrack`), as far as one place is concerned.
struct JudgedExempt {
    bool begins = false; ///< rules that come before connection tracking exempt some here
    bool steady = true;
    bool operator==(const JudgedExempt&) const = default;
};

/// One place that forwarded packets of a kind pass.
struct JudgedHook {
    model::RuleFamily packets = model::RuleFamily::unspecified; ///< ip, ip6, or bridge: what is bridged
    std::uint32_t hook = 0;                                     ///< NF_INET_*, NF_BR_*
    std::vector<JudgedChain> chains;                            ///< in the order of their priorities
    bool steadyForTcp = true;
    bool steadyForUdp = true;
    /// What becomes here of packets of TCP that connection tracking calls invalid; neither: that depends.
    bool dropsInvalid = false;
    bool passesInvalid = true;
    bool meetsOthers = false;        ///< what is no rule: what it does with packets is not known at all
    bool treatsInvalid = false;      ///< before that, some may be answered, marked, or the like
    bool asksConnectionMark = false; ///< of packets in the middle of a flow
    bool finishesTcp = false;        ///< checksums that senders have left to hardware
    bool finishesUdp = false;        ///< the same, but of DHCP
    bool marksTcp = false;           ///< packets in the middle of a flow may get marks
    bool maskInvalid = false;        ///< some may not be called so: they are not tracked, or in another zone
    JudgedExempt exemptTcp;
    JudgedExempt exemptUdp;
    std::vector<std::string> looksAt;       ///< what a fast path would have to compare for each packet
    std::vector<std::string> looksAtExempt; ///< the same, where packets are exempted
    std::vector<RuleObstacle> obstacles;
    std::size_t moreObstacles = 0; ///< that are not listed
    bool operator==(const JudgedHook&) const = default;
};

/// Whether connection tracking sees packets of this family, or may: it is among the functions that netfilter
/// calls, or those are not known. Pure.
[[nodiscard]] bool tracksConnections(model::RuleFamily family, const model::RuleSet& set);

/// For each place whether the rules are steady: whether all packets in the middle of an established TCP or
/// UDP flow fare alike, for as long as the rules are the same. In doubt they are not. Pure.
/// `loopback` is the device by which nothing comes that is forwarded.
[[nodiscard]] std::vector<JudgedHook> judgeRules(const model::RuleSet& set,
                                                 const rules::RuleDevice& loopback = {
                                                     .name = "lo", .ifindex = 1, .group = 0});

} // namespace tna::assemble
