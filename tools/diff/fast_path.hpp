// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/config.hpp"
#include "daemon/controller.hpp"
#include "diff/world.hpp"

#include <memory>

namespace tna::diff {

/// What the fast path did, over all ports.
struct Figures {
    std::uint64_t fast = 0;
    std::uint64_t slow = 0;
    std::uint64_t bytes = 0; ///< of what was fast
    std::map<std::string, std::uint64_t> reasons;
    Figures& operator+=(const Figures& other);
    /// What is there more than in the other, of each.
    [[nodiscard]] Figures operator-(const Figures& other) const;
};

/// The daemon's controller in a world, at work when it is told to: so that a case is the same each time.
class FastPath {
public:
    /// `connections`: that are learnt where packets pass rules.
    FastPath(const World& world, unsigned flowsPerCpu, unsigned connections, std::string fdb, bool atTcx);

    [[nodiscard]] Result<void> start();
    [[nodiscard]] Result<void> stop();
    [[nodiscard]] bool running() const { return controller_ != nullptr; }
    /// Whether nothing is read in place.
    [[nodiscard]] bool watched() const { return watched_; }
    /// Takes in what was announced.
    [[nodiscard]] Result<void> follow();
    /// The same where nothing is read in place: it must have seen a change before the next frame.
    [[nodiscard]] Result<void> followWhereWatched();
    /// Of all runs.
    [[nodiscard]] Result<Figures> figures() const;

private:
    [[nodiscard]] Result<NamespaceScope> enter() const { return NamespaceScope::enter(world_->home()); }
    [[nodiscard]] Figures current() const;
    /// Until the rules that there are have been judged, which somebody else does meanwhile.
    [[nodiscard]] Result<void> knowRules();

    const World* world_;
    config::Config config_;
    std::unique_ptr<daemon::Controller> controller_;
    bool watched_ = false;
    Figures gone_; ///< of runs that have ended, and of ports that are gone
};

} // namespace tna::diff
