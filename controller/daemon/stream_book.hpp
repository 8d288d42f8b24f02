// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/results/data_path.hpp"
#include "introspect/connection_change.hpp"

#include <chrono>
#include <map>

namespace tna::daemon {

/// What the fast path's connections of TCP need connection tracking to be told: not to mind windows that it
/// does not see, and when nothing comes for a while, how things stand (docs/decisions/25).
class StreamBook {
public:
    /// What is to be changed now.
    [[nodiscard]] std::vector<introspect::ConnectionChange> next(const std::vector<deploy::Stream>& streams,
                                                                 std::chrono::nanoseconds now,
                                                                 const introspect::TcpTimeouts& timeouts);
    /// What is to be changed if there is no time to wait until they are idle.
    [[nodiscard]] std::vector<introspect::ConnectionChange>
    last(const std::vector<deploy::Stream>& streams, std::chrono::nanoseconds now,
         const introspect::TcpTimeouts& timeouts) const;

private:
    /// One life of an entry.
    struct Life {
        std::uint64_t entry = 0;
        std::uint64_t born = 0;
        auto operator<=>(const Life&) const = default;
    };
    struct Told {
        std::uint64_t used = 0;           ///< as it was found last
        std::chrono::nanoseconds since{}; ///< when it was found so for the first time
        std::uint32_t disturbed = 0;      ///< as it was found last, and so the next one
        std::uint64_t givenUpAt = 0;
        bool settled = true; ///< connection tracking knows how things stood then
        bool reset = false;  ///< and that it has been reset
    };
    std::map<Life, Told> told_;
};

} // namespace tna::daemon
