// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/packet_port.hpp"

#include <sched.h>

namespace tna::test {

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
    /// In the calling thread's network namespace.
    Fence();
    void pass() const;

private:
    std::optional<PacketPort> in_;
    std::optional<PacketPort> out_;
};

} // namespace tna::test
