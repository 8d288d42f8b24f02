// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "capability/capabilities.hpp"

namespace tna::capability {

/// The XDP features of every device in the calling thread's network namespace.
[[nodiscard]] Result<std::map<model::IfIndex, XdpFeatures>> readXdpFeatures();

/// The largest MTU with which a device can run our programs, 0 for none that is known. Drivers without
/// frames in several buffers need each frame in one page; some of them take less than what fits.
[[nodiscard]] std::uint32_t maxMtuWithXdp(const XdpFeatures& features, std::uint32_t maxMtuOfDevice);

} // namespace tna::capability
