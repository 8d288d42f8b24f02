// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "deploy/kernel/kernel_probe.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tna::bench {

/// The guards of the fast path as programs of their own; each runs its guard many times.
class GuardPrograms {
public:
    struct Guard {
        std::string name;
        int program = -1;
    };
    [[nodiscard]] static Result<GuardPrograms> load(deploy::Casts casts);
    /// The first runs none.
    [[nodiscard]] const std::vector<Guard>& guards() const { return guards_; }
    /// How often each runs its guard.
    [[nodiscard]] static unsigned repeats();

private:
    template <typename Generated>
    [[nodiscard]] static Result<GuardPrograms> tryLoad();
    using Skeleton = std::unique_ptr<void, void (*)(void*)>;
    GuardPrograms(Skeleton skeleton, std::vector<Guard> guards)
        : skeleton_(std::move(skeleton)), guards_(std::move(guards)) {}
    Skeleton skeleton_;
    std::vector<Guard> guards_;
};

} // namespace tna::bench
