// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tna::bench {

/// A control group of this program's own, of either version: processes in it share a processor's time with
/// the rest as one, and are killed when the object is gone.
class ControlGroup {
public:
    struct Limits {
        std::uint64_t bytes;
        unsigned processes;
        bool first = false; ///< it gets as much time as a program of the highest priority
    };
    [[nodiscard]] static Result<ControlGroup> make(const std::string& role, const Limits& limits);
    ControlGroup(ControlGroup&& other) noexcept : folders_(std::exchange(other.folders_, {})) {}
    ControlGroup& operator=(ControlGroup&&) = delete;
    ~ControlGroup();

    /// A group inside, which gets as much time as the others inside. It is gone with this one.
    [[nodiscard]] Result<void> makeInner(const std::string& name) const;
    /// A command line that runs another one in it or in an inner one, with no priority of its own.
    [[nodiscard]] std::vector<std::string> inside(const std::string& inner,
                                                  const std::vector<std::string>& words) const;
    [[nodiscard]] std::vector<pid_t> processes() const;

    /// Ends and removes those of runs that were killed; says how many.
    static unsigned removeLeftovers();

private:
    ControlGroup() = default;
    std::vector<std::string> folders_; ///< the first is the one that shares out processors
};

} // namespace tna::bench
