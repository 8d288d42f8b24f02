// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace tna::introspect {

/// The settings of the calling thread's network namespace that decide what Linux does with packets;
/// those this kernel does not have are left out.
[[nodiscard]] std::map<std::string, std::string> readSysctls();

} // namespace tna::introspect
