// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/rules/places.hpp"

#include <optional>
#include <vector>

namespace tna::assemble {

/// What becomes of packets of TCP that connection tracking calls invalid.
enum class Invalid { depends, dropped, passed };

/// The same on a way: of those that are dropped, whether some are at pre-routing already.
struct InvalidFate {
    Invalid becomes = Invalid::depends;
    bool early = false;
    bool operator==(const InvalidFate&) const = default;
};

/// By which devices they come and leave; of a bridge that has the rules called, both are that bridge.
struct InvalidWay {
    rules::RuleDevice from;
    std::optional<rules::RuleDevice> to; ///< none: by whatever they leave
    InvalidFate fate;
    bool operator==(const InvalidWay&) const = default;
};

struct InvalidWays {
    std::vector<InvalidWay> known;
    bool all = true; ///< there is no other way
};

/// Judges what becomes of them in one family, by what is known of the devices. Functions that are no rules
/// are not looked at. Pure; `set` must outlive it.
class InvalidJudge {
public:
    InvalidJudge(const model::RuleSet& set, model::RuleFamily family);

    /// Of those that come by one device and leave by the other (none: by any).
    [[nodiscard]] InvalidFate between(const rules::RuleDevice& from, const rules::RuleDevice* to) const;
    /// What is known of the ways between devices, as much as there is room for, and time: first of all,
    /// device by device, of those where the arrival suffices, or that lie within it.
    [[nodiscard]] InvalidWays ways(const std::vector<rules::RuleDevice>& devices) const;
    /// Whether all are dropped that are for this host, by whatever device they come but the loopback.
    [[nodiscard]] bool droppedForHost(const rules::RuleDevice& loopback) const;

private:
    struct AtPlace {
        rules::Place place;
        std::vector<const model::RuleChain*> chains;
    };

    const model::RuleSet& set_;
    model::RuleFamily family_;
    rules::Chains chains_;
    rules::Surroundings surroundings_;
    std::vector<AtPlace> forward_;
    mutable std::size_t steps_ = 0; ///< that it took so far
};

} // namespace tna::assemble
