// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "flows.hpp"

#include <optional>
#include <span>

namespace tna::workload {

void swapAddresses(std::span<unsigned char> frame);
/// Of a packet of IPv4 without options that is no fragment, of UDP or TCP, and as long as it says; nothing of
/// any other one.
[[nodiscard]] std::optional<Flow> flowOf(std::span<const unsigned char> frame);
/// Writes the checksum of UDP or TCP, computed so many times. The frame has to have a flow.
void writeChecksum(std::span<unsigned char> frame, unsigned times);
/// Another destination; checksums are brought up to date (RFC 1624), and one of UDP that was left out stays
/// so. The frame has to have a flow.
void redirect(std::span<unsigned char> frame, const Backend& backend);

} // namespace tna::workload
