// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/rules/packet.hpp"
#include "model/rule_set.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace tna::assemble::rules {

/// These bits of a connection's mark are set to a constant.
struct MarkSetting {
    std::uint32_t value = 0;
    std::uint32_t mask = 0;
    bool operator==(const MarkSetting&) const = default;
};

/// What an expression does with the packets that are meant.
struct Step {
    Answer answer = Answer::yes; ///< whether the rule goes on
    std::string obstacle;        ///< why packets of one flow may fare differently; empty: they do not
    bool lets = false;           ///< the obstacle may let the packet pass, or have another effect
    bool fades = false; ///< the obstacle is only that `yes` may become `no`, for good: of weight behind a yes
    std::vector<model::RuleVerdict> verdicts; ///< one of them it is; empty: none
    std::vector<std::string_view> looksAt{};  ///< what a fast path would have to compare for each packet
    bool settles = false;  ///< whatever is not known of what it takes from its register is of no weight
    bool untracks = false; ///< whom it matches has no connection
    bool rezones = false;  ///< whom it matches may have another connection
    bool finishes = false; ///< checksums that the sender has left to hardware
    bool alters = false;   ///< what becomes of the packet later may depend on it
    std::optional<MarkSetting> connectionMark{};
    bool asksConnectionMark = false;
    bool asksKind = false; ///< what it asks for may differ between packets in the middle of a flow and others

    [[nodiscard]] static Step flow(Answer answer = Answer::maybe) { return {.answer = answer}; }
    [[nodiscard]] static Step key(std::vector<std::string_view> fields, Answer answer = Answer::maybe) {
        return {.answer = answer, .looksAt = std::move(fields)};
    }
    /// That packets of a flow may differ in; of no weight where the packet is dropped anyway.
    [[nodiscard]] static Step differs(std::string reason, Answer answer = Answer::maybe) {
        return {.answer = answer, .obstacle = std::move(reason)};
    }
    /// That may do anything.
    [[nodiscard]] static Step never(std::string reason) {
        return {.answer = Answer::maybe, .obstacle = std::move(reason), .lets = true};
    }
};

/// What a load finds, and what it means that it was looked for.
struct Loaded {
    Bits bits;
    Step step; ///< `no` where nothing can be loaded
};

// By files: what is loaded from packets, from connections.
[[nodiscard]] Loaded loadPayload(const model::RuleExpression& expression, const AbstractPacket& packet);
[[nodiscard]] Loaded loadHeader(const model::RuleExpression& expression, const AbstractPacket& packet);
[[nodiscard]] Loaded loadMeta(const model::RuleExpression& expression, const AbstractPacket& packet);
[[nodiscard]] Loaded loadCt(const model::RuleExpression& expression, const AbstractPacket& packet);

/// The matches and targets of iptables, by name and revision.
[[nodiscard]] Step evaluateMatch(const model::RuleExpression& expression, const AbstractPacket& packet);
[[nodiscard]] Step evaluateTarget(const model::RuleExpression& expression, const AbstractPacket& packet);
/// Those of ebtables, as ebtables-nft has them.
[[nodiscard]] Step evaluateOfBridge(const model::RuleExpression& expression);
/// The mark that a match asks for, all of it.
[[nodiscard]] std::optional<std::uint32_t> markMatchedBy(const model::RuleExpression& expression);
/// What a target sets the connection's mark to, of a packet with this mark.
[[nodiscard]] std::optional<MarkSetting> markSavedBy(const model::RuleExpression& expression,
                                                     std::uint32_t mark);

/// Whether a rule is, of UDP, for what goes to DHCP's ports and nothing else, as libvirt's is that finishes
/// checksums.
[[nodiscard]] bool asksForDhcp(const model::FilterRule& rule);

/// The headers that routes are looked up by, besides addresses.
[[nodiscard]] std::vector<std::string_view> routesLookAt(const AbstractPacket& packet);

/// A rule's surroundings: the sets of its table.
class Surroundings {
public:
    explicit Surroundings(const model::RuleSet& set);
    /// Why what is found in a set may differ between packets of a flow; `found` is the set if it is
    /// understood.
    [[nodiscard]] std::string obstacleOf(model::RuleFamily family, const std::string& table,
                                         const std::string& name, const model::NamedSet*& found) const;
    /// Elements only vanish, until the rules change: packets add none, and which one a key finds does not
    /// depend on others.
    [[nodiscard]] bool onlyFades(const model::NamedSet& set) const;

private:
    [[nodiscard]] bool changedByPackets(const model::NamedSet& set) const;
    using Place = std::tuple<model::RuleFamily, std::string, std::string>;
    std::map<Place, const model::NamedSet*> sets_;
    std::set<Place> changed_; ///< by packets: whatever their flags say; without a name: any of the table
};

/// One expression of a rule in `family` and `table`.
[[nodiscard]] Step evaluate(const model::RuleExpression& expression, const AbstractPacket& packet,
                            Registers& registers, const Surroundings& surroundings, model::RuleFamily family,
                            const std::string& table);

} // namespace tna::assemble::rules
