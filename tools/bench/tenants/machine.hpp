// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tna::bench {

/// Why this machine cannot have tenants that are virtual machines; empty if it can.
[[nodiscard]] std::string whyNoMachines(const std::string& kernel);

constexpr unsigned machineMebibytes = 96; ///< of the guest
constexpr unsigned machineOverhead = 64;  ///< of QEMU itself

/// A virtual machine with a processor that is always busy; `folder` has what writeGuest() wrote.
[[nodiscard]] std::vector<std::string> machineWords(const std::string& kernel, const std::string& folder);
/// A root file system with nothing but a shell and what it does.
[[nodiscard]] Result<void> writeGuest(const std::string& folder);

/// An archive of files (name, content), as the kernel takes them for its first root.
[[nodiscard]] std::string archiveOf(const std::vector<std::pair<std::string, std::string>>& files);

} // namespace tna::bench
