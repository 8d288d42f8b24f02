// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/assemble.hpp"
#include "base/backoff.hpp"

#include <chrono>
#include <set>
#include <span>
#include <string_view>

namespace tna::daemon {

/// How it is noticed that a fact has changed.
enum class Noticed {
    announced, ///< the kernel sends a message
    looked,    ///< read once a second, or ten times where the kernel is not read in place
    again,     ///< no message tells: read again by Recheck
};

/// Something that the plan depends on. docs/architecture.md has the same list, which a test compares.
struct Fact {
    std::string_view what;
    Noticed noticed;
    std::string_view how;
};
[[nodiscard]] std::span<const Fact> facts();

/// Ports that are left to Linux because of something that may end without a message.
[[nodiscard]] std::set<model::IfIndex> hinderedSilently(const assemble::Plan& plan);

/// When to read again what no message tells of.
class Recheck {
public:
    using Time = Backoff::Time;
    static constexpr std::chrono::seconds least{1};
    static constexpr std::chrono::seconds most{8};
    static constexpr std::chrono::seconds ofEverything{60};

    enum class Due { nothing, hindered, everything };

    explicit Recheck(Time now) : everythingAt_(now + ofEverything) {}
    /// What is to be read now: those ports soon at first, then more rarely, for as long as they are the same.
    [[nodiscard]] Due due(Time now, const std::set<model::IfIndex>& hindered);
    /// Everything has been read.
    void done(Time now) { everythingAt_ = now + ofEverything; }

private:
    Time everythingAt_;
    std::set<model::IfIndex> hindered_;
    Backoff backoff_{most};
};

} // namespace tna::daemon
