// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/manifest.hpp"

namespace tna::assemble {

/// Whether a port's packets are looked up in a flowtable of Linux's, and forwarded by what is found there.
[[nodiscard]] bool flowtableForwards(const PortInQuestion& port);
[[nodiscard]] ProfileModule flowtableModule();

} // namespace tna::assemble
