// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <utility>

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
    WayBackLink(WayBackLink&& other) noexcept
        : into_(std::exchange(other.into_, 0)), outOf_(std::exchange(other.outOf_, 0)) {}
    WayBackLink& operator=(WayBackLink&&) = delete;

    [[nodiscard]] unsigned into() const { return into_; }   ///< ifindex
    [[nodiscard]] unsigned outOf() const { return outOf_; } ///< the same of the other one

private:
    WayBackLink(unsigned into, unsigned outOf) : into_(into), outOf_(outOf) {}
    unsigned into_;
    unsigned outOf_;
};

} // namespace tna::daemon
