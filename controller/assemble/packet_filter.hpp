// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/packet_filter.hpp"

#include <set>
#include <vector>

namespace tna::assemble {

/// Whether a packet socket with this filter wants nothing that the fast path forwards while somebody has such
/// a filter. Of frames that it is given from the Ethernet header on, it may want those for group addresses,
/// which are Linux's anyway, those for the address of EDP, those of other protocols than IP that it names,
/// and UDP over IPv4 for DHCP servers or clients: these are Linux's then (fpm/guards/packet_filter.bpf.h). A
/// filter that is not understood wants more.
[[nodiscard]] bool sparesForwarded(const model::PacketFilter& filter);

/// Of these, as many as the fast path can know.
[[nodiscard]] std::vector<model::PacketFilter> sparing(const std::set<model::PacketFilter>& filters);

} // namespace tna::assemble
