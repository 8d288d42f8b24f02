// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "capability/capabilities.hpp"
#include "capability/in_place_facts.hpp"
#include "model/network.hpp"

#include <vector>

namespace tna::capability {

/// Up to `most` entries of all bridges' FDBs, asked over netlink.
[[nodiscard]] Result<std::vector<model::FdbEntry>> dumpFdb(std::size_t most);

/// How reading in place answers; the proof is tested with readers that answer wrongly.
class InPlaceReader {
public:
    virtual ~InPlaceReader() = default;
    virtual Result<PortFacts> readPort(model::IfIndex port) = 0;
    virtual Result<std::optional<EntryFacts>> readEntry(model::IfIndex port, const model::MacAddress& mac,
                                                        std::uint16_t vlan) = 0;
    virtual Result<VlanFacts> readVlan(model::IfIndex port, std::uint16_t vid) = 0;
};

struct Proof : Finding {
    /// Something reads differently; false where there was nothing to compare with yet.
    bool disproved = false;
};

/// Compares what reading in place finds with what netlink said: each entry, its port, whether it is the
/// host's own; each port's state and settings. `network` must have at least one bridge port.
[[nodiscard]] Proof proveInPlaceFdb(InPlaceReader& reader, const model::Network& network,
                                    const std::vector<model::FdbEntry>& entries);

} // namespace tna::capability
