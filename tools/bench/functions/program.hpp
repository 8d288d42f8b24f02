// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/functions/far_side.hpp"
#include "bench/tenants/control_group.hpp"
#include "bench/testbed/process.hpp"

namespace tna::bench {

/// A program in user space that treats frames: on its processor, and in a control group of its own that gets
/// as much time as this program's priority, which the driver's thread has as well. In this program's session,
/// whose share is another one whenever its other threads sleep or wake up, the kernel's scheduler was seen to
/// give that thread nothing for 20 seconds and more (Linux 6.18).
class ProgramUnderTest {
public:
    [[nodiscard]] static Result<ProgramUnderTest>
    start(const FarSide& side, const std::vector<std::string>& words, const std::string& errors);
    [[nodiscard]] bool running() { return process_.running(); }
    [[nodiscard]] std::string ending() const { return process_.ending(); }

private:
    ProgramUnderTest(ControlGroup group, Process process)
        : group_(std::move(group)), process_(std::move(process)) {}
    ControlGroup group_;
    Process process_;
};

} // namespace tna::bench
