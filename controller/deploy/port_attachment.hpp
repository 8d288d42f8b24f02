// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "deploy/program_template.hpp"
#include "model/link.hpp"

namespace tna::deploy {

/// The entry program on one port, and the slot of the profile it jumps to. Detaches at destruction;
/// the kernel does so by itself when the process dies.
class PortAttachment {
public:
    /// Attaches natively; never replaces a program that is there already.
    [[nodiscard]] static Result<PortAttachment> attach(const ProgramTemplate& entry, int templateMap,
                                                       const model::Link& link);

    /// Makes `program` the port's profile; takes effect with the next frame.
    [[nodiscard]] Result<void> setProfile(int program);
    /// Leaves all frames to Linux, still attached.
    void clearProfile();
    /// False once the device is gone: the kernel has cut the link.
    [[nodiscard]] bool alive() const;

private:
    PortAttachment(UniqueFd slot, UniqueFd program, UniqueFd link)
        : slot_(std::move(slot)), program_(std::move(program)), link_(std::move(link)) {}
    UniqueFd slot_;
    UniqueFd program_;
    UniqueFd link_;
};

} // namespace tna::deploy
