// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

namespace tna::wires {

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

} // namespace tna::wires
