// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/programs/instructions.hpp"

#include <bpf/libbpf.h>
#include <cstdint>
#include <vector>

namespace tna::deploy {

/// Where a program's functions begin, and their types. With these, the kernel's verifier looks at a global
/// function (APART in the fast path) once; without, at each of its calls.
struct FunctionPlaces {
    int types = -1; ///< the object's BTF
    std::uint32_t recordSize = 0;
    std::uint32_t number = 0;
    std::vector<std::uint8_t> records; ///< struct bpf_func_info

    /// Of a program that has been made of this one and others (goOnAtMarks()): its functions are the first
    /// ones there. Empty where they are not.
    [[nodiscard]] FunctionPlaces within(const Instructions& joined) const;
};

/// Has libbpf say it of the programs that it opens from now on: it has no function that tells it later.
void noteFunctionPlaces();
/// Of a program that libbpf has loaded; empty where nothing was noted.
[[nodiscard]] FunctionPlaces functionPlacesOf(const bpf_program* program);

} // namespace tna::deploy
