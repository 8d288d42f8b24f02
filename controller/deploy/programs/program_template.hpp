// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "deploy/programs/function_places.hpp"
#include "deploy/programs/instructions.hpp"

#include <array>
#include <bpf/libbpf.h>
#include <cstdint>
#include <map>
#include <tna/constants.h>
#include <vector>

namespace tna::deploy {

/// Values by tna_constant; those not named are 0.
using Constants = std::array<std::uint64_t, TNA_CONSTANT_COUNT>;

/// Whether programs are loaded as able to handle frames in several buffers (which they pass on): any driver
/// takes such a program, and all users of a device map must be alike in this.
enum class Buffers {
    several,
    single, ///< for kernels that know one buffer only
};
/// What the kernel can do, found out by loading a program.
[[nodiscard]] Buffers buffersOfKernel();
/// The flag to load programs for XDP with.
[[nodiscard]] std::uint32_t programFlags(Buffers buffers);

/// A program as libbpf has relocated it once. Further copies that differ in some of their maps (their
/// constants, their jump table) are loaded from the instructions alone: 0.3-0.7 ms instead of the
/// 30-140 ms of a whole object, nearly all of which is parsing the kernel's BTF.
class ProgramTemplate {
public:
    /// Kernel functions that the program calls may be a module's: its types.
    ProgramTemplate(const bpf_program* program, Buffers buffers, int moduleBtf = -1);

    /// A copy in which the maps of the first file descriptors are replaced by the second, and the constants
    /// (tna/constants.h) have these values.
    [[nodiscard]] Instructions instructions(const std::map<int, int>& replacedMaps,
                                            const Constants& constants) const;
    /// Loads such a copy, or what has been made of it.
    [[nodiscard]] Result<UniqueFd> load(const Instructions& instructions) const;
    [[nodiscard]] Result<UniqueFd> load(const std::map<int, int>& replacedMaps,
                                        const Constants& constants) const {
        return load(instructions(replacedMaps, constants));
    }

private:
    const char* name_;
    bpf_prog_type type_;
    bpf_attach_type attachType_;
    std::uint32_t flags_;
    Instructions instructions_;
    FunctionPlaces functions_;
    std::vector<int> typesByIndex_; ///< what calls of kernel functions have in `off`; at 0, the kernel's own
};

/// A program of XDP or of traffic control that leaves every frame to Linux.
[[nodiscard]] Result<UniqueFd> loadPassAll(bpf_prog_type type, Buffers buffers);

} // namespace tna::deploy
