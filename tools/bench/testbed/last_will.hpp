// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"

#include <functional>
#include <sys/types.h>
#include <utility>

namespace tna::bench {

/// What is done when this program has ended without doing it, whatever has ended it: a process of its own
/// waits for that, in a session and by a name of its own, so that what ends this program by name does not end
/// both.
class LastWill {
public:
    using Execute = std::function<void()>;
    /// `prepare` is called at once, in that process; it has this program's descriptors then, and none later.
    [[nodiscard]] static Result<LastWill> leave(const std::function<Result<Execute>()>& prepare);
    LastWill(LastWill&& other) noexcept
        : executor_(std::exchange(other.executor_, -1)), line_(std::move(other.line_)) {}
    LastWill& operator=(LastWill&&) = delete;
    /// Revoked: nothing is left to be done.
    ~LastWill();

private:
    LastWill(pid_t executor, UniqueFd line) : executor_(executor), line_(std::move(line)) {}
    pid_t executor_;
    UniqueFd line_;
};

} // namespace tna::bench
