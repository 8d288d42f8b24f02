// SPDX-License-Identifier: Apache-2.0
#include "daemon/loading.hpp"

#include "deploy/kernel/requirements.hpp"

#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
deploy::Limits limitsOf(const config::Config& config) {
    const auto& limits = config.limits;
    return {limits.maxPorts,
            limits.flowsPerCpu,
            limits.maxStations,
            limits.destinations,
            std::chrono::milliseconds(config.kernel.refresh),
            config.kernel.selfCheck};
}

Result<Loaded> loadInPlace(const config::Config& config, deploy::KernelProbe probe,
                           capability::Capabilities& capabilities) {
    const auto facts = probe.readNamespace();
    if (!facts)
        return std::unexpected(facts.error());
    auto fastPath =
        deploy::FastPath::load(limitsOf(config), *facts, capabilities.hookFunctions, probe.casts());
    if (!fastPath)
        return std::unexpected(fastPath.error());
    capabilities.way = capability::Way::inPlace;
    capabilities.fastPath = {true, "the pipeline loads"};
    return Loaded{std::move(probe), std::move(*fastPath), std::nullopt, std::nullopt};
}

Result<Loaded> loadAsking(const config::Config& config, capability::Capabilities& capabilities) {
    auto fastPath = deploy::FastPath::loadAsking(limitsOf(config));
    if (!fastPath)
        return std::unexpected(fastPath.error());
    capabilities.kfunc = {true, "the bridge is asked for each frame, by bpf_xdp_br_fdb_lookup()"};
    return Loaded{std::nullopt, std::move(*fastPath), std::nullopt, std::nullopt};
}

Result<Loaded> loadMirroring(const config::Config& config, std::size_t stationsBuffer) {
    auto fastPath = deploy::FastPath::loadWatched(limitsOf(config));
    if (!fastPath)
        return std::unexpected(fastPath.error());
    auto stations = introspect::Stations::open(stationsBuffer);
    if (!stations)
        return std::unexpected(stations.error());
    return Loaded{std::nullopt, std::move(*fastPath), std::move(*stations), std::nullopt};
}

/// Asking is preferred: what the bridge answers is never stale.
Result<Loaded> loadAskingOrMirroring(const config::Config& config, capability::Capabilities& capabilities,
                                     std::size_t stationsBuffer) {
    capabilities.kfunc = {false, "the configuration wants the mirror"};
    if (config.kernel.fdb != "mirror") {
        auto asking = loadAsking(config, capabilities);
        if (asking || config.kernel.fdb == "kfunc")
            return asking;
        capabilities.kfunc = {false, asking.error().sentence()};
    }
    return loadMirroring(config, stationsBuffer);
}
} // namespace

Result<deploy::KernelProbe> loadProbe(const config::Config& config) {
    if (config.kernel.fdb == "mirror" || config.kernel.fdb == "kfunc")
        return std::unexpected(
            Error{fmt::format("the configuration wants the {}", config.kernel.fdb), {}, {}});
    if (auto missing = deploy::missingForReadingInPlace(deploy::thisMachine()))
        return std::unexpected(std::move(*missing));
    return deploy::KernelProbe::load();
}

Result<Loaded> loadWatched(const config::Config& config, capability::Capabilities& capabilities,
                           std::size_t stationsBuffer) {
    auto loaded = loadAskingOrMirroring(config, capabilities, stationsBuffer);
    if (!loaded)
        return loaded;
    capabilities.way = capability::Way::watched;
    capabilities.fastPath = {true, "the watched pipeline loads"};
    auto vlanDevices = deploy::VlanDevices::load();
    if (vlanDevices)
        loaded->vlanDevices.emplace(std::move(*vlanDevices));
    else
        spdlog::info("{}; tagged frames are left to Linux", vlanDevices.error().sentence());
    return loaded;
}

Result<Loaded> loadFastPath(const config::Config& config, Result<deploy::KernelProbe> probe,
                            capability::Capabilities& capabilities, std::size_t stationsBuffer) {
    auto inPlace = probe ? loadInPlace(config, std::move(*probe), capabilities)
                         : Result<Loaded>{std::unexpected(probe.error())};
    if (inPlace || config.kernel.fdb == "in-place")
        return inPlace;
    capabilities.inPlaceFdb = {false, inPlace.error().sentence()};
    return loadWatched(config, capabilities, stationsBuffer);
}

} // namespace tna::daemon
