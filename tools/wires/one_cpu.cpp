// SPDX-License-Identifier: Apache-2.0
#include "wires/one_cpu.hpp"

#include <cstddef>

namespace tna::wires {

OneCpu::OneCpu() {
    ::sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &here);
    ::sched_setaffinity(0, sizeof(here), &here);
}

OneCpu::~OneCpu() {
    ::sched_setaffinity(0, sizeof(before_), &before_);
}

} // namespace tna::wires
