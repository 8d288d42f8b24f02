// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wires/wire.hpp"

namespace tna::wires {

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

} // namespace tna::wires
