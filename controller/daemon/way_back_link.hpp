// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "deploy/kernel/presence.hpp"

namespace tna::daemon {

/// The pair of veths by which network functions give frames back to Linux: they send into one, and what comes
/// out of the other is received by the ports that it came in by. What an earlier process has left goes first.
class WayBackLink {
public:
    /// In the namespace of the calling thread.
    [[nodiscard]] static Result<WayBackLink> make(unsigned queues);
    /// Takes away what there is of these names, if it is ours.
    static void removeLeftOver();

    ~WayBackLink();
    WayBackLink(WayBackLink&&) = default;
    WayBackLink& operator=(WayBackLink&&) = delete;

    /// Whether both have been here all the time: what is sent into one comes out of the other.
    [[nodiscard]] bool lasts() const { return intoIsHere_.lasts() && outOfIsHere_.lasts(); }

    [[nodiscard]] unsigned into() const { return into_; }   ///< ifindex
    [[nodiscard]] unsigned outOf() const { return outOf_; } ///< the same of the other one

private:
    WayBackLink(unsigned into, unsigned outOf) : into_(into), outOf_(outOf) {}
    [[nodiscard]] Result<void> watch();
    unsigned into_;
    unsigned outOf_;
    deploy::Presence intoIsHere_, outOfIsHere_;
};

} // namespace tna::daemon
