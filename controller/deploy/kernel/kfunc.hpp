// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"

#include <string>

namespace tna::deploy {

/// Where a kernel function that BPF programs may call is at home.
struct Kfunc {
    std::string home;   ///< "vmlinux", or a module's name
    UniqueFd moduleBtf; ///< none if it is the kernel's own; programs are loaded with this one
};

/// Looks for it in what the kernel and its modules say of their types.
[[nodiscard]] Result<Kfunc> findKfunc(const char* name);

} // namespace tna::deploy
