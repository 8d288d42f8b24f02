// SPDX-License-Identifier: Apache-2.0
#include "daemon/loading.hpp"

#include "deploy/requirements.hpp"

#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
Result<Loaded> loadInPlace(const config::Limits& limits, deploy::KernelProbe probe,
                           capability::Capabilities& capabilities) {
    const auto facts = probe.readNamespace();
    if (!facts)
        return std::unexpected(facts.error());
    auto fastPath = deploy::FastPath::load({limits.maxPorts, limits.flowsPerCpu, limits.maxStations}, *facts,
                                           capabilities.hookFunctions, probe.casts());
    if (!fastPath)
        return std::unexpected(fastPath.error());
    capabilities.way = capability::Way::inPlace;
    capabilities.fastPath = {true, "the pipeline loads"};
    return Loaded{std::move(probe), std::move(*fastPath), std::nullopt, std::nullopt};
}
} // namespace

Result<deploy::KernelProbe> loadProbe(const config::Config& config) {
    if (config.kernel.fdb == "mirror")
        return std::unexpected(Error{"the configuration wants the mirror", {}, {}});
    if (auto missing = deploy::missingForReadingInPlace(deploy::thisMachine()))
        return std::unexpected(std::move(*missing));
    return deploy::KernelProbe::load();
}

Result<Loaded> loadWatched(const config::Limits& limits, capability::Capabilities& capabilities,
                           std::size_t stationsBuffer) {
    auto fastPath = deploy::FastPath::loadWatched({limits.maxPorts, limits.flowsPerCpu, limits.maxStations});
    if (!fastPath)
        return std::unexpected(fastPath.error());
    auto stations = introspect::Stations::open(stationsBuffer);
    if (!stations)
        return std::unexpected(stations.error());
    capabilities.way = capability::Way::watched;
    capabilities.fastPath = {true, "the watched pipeline loads"};
    auto vlanDevices = deploy::VlanDevices::load();
    if (!vlanDevices)
        spdlog::info("{}; tagged frames are left to Linux", vlanDevices.error().sentence());
    return Loaded{std::nullopt, std::move(*fastPath), std::move(*stations),
                  vlanDevices ? std::optional(std::move(*vlanDevices)) : std::nullopt};
}

Result<Loaded> loadFastPath(const config::Config& config, Result<deploy::KernelProbe> probe,
                            capability::Capabilities& capabilities, std::size_t stationsBuffer) {
    auto inPlace = probe ? loadInPlace(config.limits, std::move(*probe), capabilities)
                         : Result<Loaded>{std::unexpected(probe.error())};
    if (inPlace || config.kernel.fdb == "in-place")
        return inPlace;
    capabilities.inPlaceFdb = {false, inPlace.error().sentence()};
    return loadWatched(config.limits, capabilities, stationsBuffer);
}

} // namespace tna::daemon
