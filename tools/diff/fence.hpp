// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/wire.hpp"

#include <sched.h>

namespace tna::diff {

/// Keeps the calling thread, and programs it starts, on the CPU it runs on. A frame that a pinned thread
/// sends into a veth is then handled by that CPU alone, in order, and what a CPU caches is met again.
class OneCpu {
public:
    OneCpu();
    ~OneCpu();
    OneCpu(const OneCpu&) = delete;
    OneCpu& operator=(const OneCpu&) = delete;

private:
    cpu_set_t before_{};
};

/// Tells when nothing sent before is under way any more, without waiting for time to pass. A CPU polls its
/// devices in turns; frames sent one after the other through a pair of devices of the fence's own come out
/// when each device that had something to do has had as many turns. Needs the thread to be pinned (OneCpu).
class Fence {
public:
    /// In the calling thread's network namespace, by the names fence0 and fence1.
    [[nodiscard]] static Result<Fence> make();
    [[nodiscard]] Result<void> pass() const;

private:
    Fence(Wire in, Wire out) : in_(std::move(in)), out_(std::move(out)) {}
    [[nodiscard]] bool comesOut(unsigned number, int milliseconds) const;
    Wire in_;
    Wire out_;
};

} // namespace tna::diff
