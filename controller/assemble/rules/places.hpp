// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/rules/walk.hpp"

#include <optional>
#include <span>

namespace tna::assemble::rules {

/// One of netfilter's hooks, for packets of one family.
struct Place {
    model::RuleFamily packets;
    std::uint32_t hook;
};

/// Those that packets pass which are forwarded, in their order; of a bridge those, too, that are routed from
/// and to it.
[[nodiscard]] std::span<const Place> forwardPlaces();

/// The base chains whose rules packets of a place come to, in their order.
[[nodiscard]] std::vector<const model::RuleChain*> chainsAt(const Place& place, const model::RuleSet& set);

/// Whether it goes with the process that owns its table, without another generation of the rules.
[[nodiscard]] bool mayGoUnnoticed(const model::RuleChain& chain, const model::RuleSet& set);

/// Whether it is called where connections are looked up (NF_IP_PRI_CONNTRACK, the same for all families), or
/// behind.
[[nodiscard]] bool isTracked(const model::RuleChain& base);

/// Whether it is called for packets that belong to no connection, and after it is known that they do not. Of
/// two functions with the same priority, either may be called first.
[[nodiscard]] bool meetsInvalid(const model::RuleChain& base);

/// Whether what it exempts from connection tracking is known to be so by all that look at it (the learner's
/// function in front of connection tracking), and is whole: fragments have been put together.
[[nodiscard]] bool exemptsInTime(const model::RuleChain& base);

/// Where packets end at one place, and where something else may be done with them first. Of two chains with
/// the same priority, either may be called first.
class Ends {
public:
    void note(const Walk& walk, const model::RuleChain& base);
    void noteTreated(std::int32_t priority);
    [[nodiscard]] bool dropsAll() const { return dropped_ && !treatsSome(); }
    /// Nobody but rules sees the mark of a packet between two chains of one place: what ends there may have
    /// one.
    [[nodiscard]] bool treatsSome() const {
        return dropped_ ? treated_ && *treated_ <= *dropped_ : treated_ || marked_;
    }

private:
    std::optional<std::int32_t> dropped_, treated_;
    bool marked_ = false;
};

} // namespace tna::assemble::rules
