// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "deploy/kernel/kernel_probe.hpp"
#include "deploy/programs/program_template.hpp"

#include <map>
#include <memory>
#include <string>

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
    std::map<std::string, int> maps; ///< all of them, by the names that the pipeline's source has
    int watchedPorts = -1;
    int watchedVlans = -1;
    int stations = -1;
    int stationUses = -1;
    assemble::Hook hook = assemble::Hook::xdp;
    Casts casts = Casts::untyped; ///< of those that read the kernel in place
    Buffers buffers = Buffers::several;
    UniqueFd moduleBtf; ///< of the module whose functions the program calls, if any

    /// -1: this pipeline has none.
    [[nodiscard]] int map(const std::string& name) const;
    /// A cache, which is an array in a section of its own.
    [[nodiscard]] int cache(const std::string& name) const { return map(".data." + name); }

    /// Makes every flow prove itself from nothing, once.
    void forgetFlows() const;

    [[nodiscard]] static Result<PipelineObject> load(Casts casts, unsigned maxPorts, unsigned maxConnections);
    /// The one at tcx. What is known of rules and connections it shares with the other one.
    [[nodiscard]] static Result<PipelineObject> loadTcx(Casts casts, unsigned maxPorts,
                                                        const PipelineObject& other);
    /// The one for kernels that are not read in place.
    [[nodiscard]] static Result<PipelineObject> loadWatched(unsigned maxPorts, unsigned maxStations,
                                                            Buffers buffers);
    /// The same, which asks the bridge for stations.
    [[nodiscard]] static Result<PipelineObject> loadAsking(unsigned maxPorts);
};

} // namespace tna::deploy
