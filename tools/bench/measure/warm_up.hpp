// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/traffic/traffic.hpp"

namespace tna::bench {

/// Makes a firewall's flows what its setup says they are to connection tracking, before they are measured. In
/// the device's namespace; nothing happens where flows need not be known.
[[nodiscard]] Result<void> warmUp(Traffic& traffic, const Setup& setup);
/// The same before each measurement.
[[nodiscard]] Result<void> warmUpAgain(const Setup& setup);

} // namespace tna::bench
