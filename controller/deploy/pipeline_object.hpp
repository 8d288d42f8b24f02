// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "deploy/kernel_probe.hpp"
#include "deploy/program_template.hpp"

#include <memory>

struct bpf_program;
struct tna_namespace;

namespace tna::deploy {

/// The pipeline as libbpf has loaded it once: its maps, and the program that profiles are copies of.
struct PipelineObject {
    std::unique_ptr<void, void (*)(void*)> owner;
    const bpf_program* program = nullptr;
    tna_namespace* home = nullptr;
    int homeMap = -1;
    int portCounters = -1;
    int portSlots = -1;
    int egressPorts = -1;
    int decision = -1;
    int bridgeModules = -1;
    int routeModules = -1;
    int flows = -1; ///< what follows is of the pipeline that is read in place, or of the watched one
    int flowVlans = -1;
    int routeStacks = -1;
    int destinations = -1;
    int routes = -1;
    int routes6 = -1;
    int watchedPorts = -1;
    int watchedVlans = -1;
    int stations = -1;
    int stationUses = -1;
    Buffers buffers = Buffers::several;
    UniqueFd moduleBtf; ///< of the module whose functions the program calls, if any

    [[nodiscard]] static Result<PipelineObject> load(Casts casts, unsigned maxPorts);
    /// The one for kernels that are not read in place.
    [[nodiscard]] static Result<PipelineObject> loadWatched(unsigned maxPorts, unsigned maxStations,
                                                            Buffers buffers);
    /// The same, which asks the bridge for stations.
    [[nodiscard]] static Result<PipelineObject> loadAsking(unsigned maxPorts);
};

} // namespace tna::deploy
