// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/net_namespace.hpp"

#include <sys/types.h>

namespace tna::diff {

/// A shell that lives in a network namespace, with a /sys of that namespace's own; takes one line after the
/// other, as from a user. It and what it has started end with the object.
class Shell {
public:
    /// WORLD in its environment is the world's name.
    [[nodiscard]] static Result<Shell> start(const NetNamespace& home, const std::string& world);
    Shell(Shell&& other) noexcept
        : pid_(std::exchange(other.pid_, -1)), in_(std::move(other.in_)), out_(std::move(other.out_)) {}
    Shell& operator=(Shell&&) = delete;
    ~Shell();

    /// The exit code, a space, and what was printed to either output.
    [[nodiscard]] Result<std::string> run(const std::string& words) const;
    /// For what must not fail.
    [[nodiscard]] Result<void> must(const std::string& words) const;

private:
    Shell(pid_t pid, UniqueFd in, UniqueFd out) : pid_(pid), in_(std::move(in)), out_(std::move(out)) {}
    pid_t pid_;
    UniqueFd in_;
    UniqueFd out_;
};

} // namespace tna::diff
