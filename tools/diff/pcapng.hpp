// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/case.hpp"

namespace tna::diff {

/// Frames with the ports they belong to, as a file for Wireshark and tcpdump: pcapng, an interface for each
/// port.
[[nodiscard]] std::string pcapngOf(const std::vector<std::string>& ports, const std::vector<Packet>& packets);

/// The frames of a pcapng or pcap file. Interfaces are ports by their names, or by their numbers if they have
/// none; all frames of a pcap file belong to `port`.
[[nodiscard]] Result<std::vector<Packet>>
packetsOf(const std::string& file, const std::vector<std::string>& ports, const std::string& port);

} // namespace tna::diff
