// SPDX-License-Identifier: Apache-2.0
#include "daemon/real_kernel.hpp"

#include "capability/kernel.hpp"
#include "capability/modules.hpp"
#include "capability/xdp_features.hpp"
#include "deploy/both_hooks.hpp"
#include "deploy/kernel/requirements.hpp"
#include "deploy/kernel/tcx.hpp"
#include "deploy/load_fast_path.hpp"
#include "introspect/promiscuous.hpp"
#include "introspect/rings.hpp"

#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
/// The probe as the proof asks it, with what tests put before it.
class ProbeReader : public capability::InPlaceReader {
public:
    ProbeReader(deploy::KernelProbe probe, const Seams& seams) : probe_(std::move(probe)) {
        if (seams.reader)
            instead_ = seams.reader(probe_);
    }
    Result<capability::PortFacts> readPort(model::IfIndex port) override {
        return instead_ ? instead_->readPort(port) : probe_.readPort(port);
    }
    Result<std::optional<capability::EntryFacts>> readEntry(model::IfIndex port, const model::MacAddress& mac,
                                                            std::uint16_t vlan) override {
        return instead_ ? instead_->readEntry(port, mac, vlan) : probe_.readEntry(port, mac, vlan);
    }
    Result<capability::VlanFacts> readVlan(model::IfIndex port, std::uint16_t vid) override {
        return instead_ ? instead_->readVlan(port, vid) : probe_.readVlan(port, vid);
    }

private:
    deploy::KernelProbe probe_;
    std::unique_ptr<capability::InPlaceReader> instead_;
};

deploy::Limits limitsOf(const config::Config& config) {
    const auto& limits = config.limits;
    return {limits.maxPorts,
            limits.flowsPerCpu,
            limits.maxStations,
            limits.destinations,
            std::chrono::milliseconds(config.kernel.refresh),
            config.kernel.selfCheck,
            std::max(config.limits.connections, 1U)};
}

Result<Loaded> loadAsking(const config::Config& config, capability::Capabilities capabilities) {
    auto fastPath = deploy::loadAskingFastPath(limitsOf(config));
    if (!fastPath)
        return std::unexpected(fastPath.error());
    capabilities.kfunc = {true, "the bridge is asked for each frame, by bpf_xdp_br_fdb_lookup()"};
    return Loaded{.capabilities = std::move(capabilities), .dataPath = std::move(*fastPath)};
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

/// Reading /proc/kallsyms takes 100 ms: meanwhile, the namespace is read and the probe is loaded.
RealKernel::RealKernel(Seams seams)
    : seams_(std::move(seams)), asked_(std::async(std::launch::async, capability::probeKernel)) {}

Result<Loaded> RealKernel::load(const config::Config& config) {
    auto probe = loadProbe(config);
    auto capabilities = asked_.valid() ? asked_.get() : capability::probeKernel();
    if (!capabilities)
        return std::unexpected(capabilities.error());
    auto inPlace = probe ? loadInPlace(config, std::move(*probe), *capabilities)
                         : Result<Loaded>{std::unexpected(probe.error())};
    if (inPlace || config.kernel.fdb == "in-place")
        return inPlace;
    capabilities->inPlaceFdb = {false, inPlace.error().sentence()};
    return loadWatched(config, *capabilities);
}

Result<Loaded> RealKernel::loadInPlace(const config::Config& config, deploy::KernelProbe probe,
                                       capability::Capabilities capabilities) const {
    const auto facts = probe.readNamespace();
    if (!facts)
        return std::unexpected(facts.error());
    const auto limits = limitsOf(config);
    auto fastPath = deploy::loadFastPath(limits, *facts, capabilities.hookFunctions, probe.casts());
    if (!fastPath)
        return std::unexpected(fastPath.error());
    // The one at XDP outlives the other.
    auto loadTcx = [=, facts = *facts, hooks = capabilities.hookFunctions, casts = probe.casts(),
                    xdp = fastPath->get()]() -> Result<deploy::BothHooks::Path> {
        return deploy::loadFastPathAtTcx(limits, facts, hooks, casts, *xdp);
    };
    auto both = std::make_unique<deploy::BothHooks>(std::move(*fastPath), std::move(loadTcx));
    capabilities.way = capability::Way::inPlace;
    capabilities.tcx = deploy::findTcx();
    capabilities.fastPath = {true, "the pipeline loads"};
    Loaded loaded{.capabilities = std::move(capabilities), .dataPath = std::move(both)};
    auto filters = deploy::PacketFilters::load(probe.casts());
    if (filters)
        loaded.filters.emplace(std::move(*filters));
    else
        spdlog::info("{}; whoever listens to all frames of a port has all of them",
                     filters.error().sentence());
    loaded.reader = std::make_unique<ProbeReader>(std::move(probe), seams_);
    return loaded;
}

/// Asking is preferred: what the bridge answers is never stale.
Result<Loaded> RealKernel::loadAskingOrMirroring(const config::Config& config,
                                                 capability::Capabilities capabilities) const {
    capabilities.kfunc = {false, "the configuration wants the mirror"};
    if (config.kernel.fdb != "mirror") {
        auto asking = loadAsking(config, capabilities);
        if (asking || config.kernel.fdb == "kfunc")
            return asking;
        capabilities.kfunc = {false, asking.error().sentence()};
    }
    auto fastPath = deploy::loadWatchedFastPath(limitsOf(config));
    if (!fastPath)
        return std::unexpected(fastPath.error());
    auto stations = introspect::Stations::open(seams_.stationsBuffer);
    if (!stations)
        return std::unexpected(stations.error());
    Loaded loaded{.capabilities = std::move(capabilities), .dataPath = std::move(*fastPath)};
    loaded.stations.emplace(std::move(*stations));
    return loaded;
}

Result<Loaded> RealKernel::loadWatched(const config::Config& config,
                                       const capability::Capabilities& capabilities) {
    auto loaded = loadAskingOrMirroring(config, capabilities);
    if (!loaded)
        return loaded;
    loaded->capabilities.way = capability::Way::watched;
    loaded->capabilities.fastPath = {true, "the watched pipeline loads"};
    auto vlanDevices = deploy::VlanDevices::load();
    if (vlanDevices)
        loaded->vlanDevices.emplace(std::move(*vlanDevices));
    else
        spdlog::info("{}; tagged frames are left to Linux", vlanDevices.error().sentence());
    return loaded;
}

Kernel::Modules RealKernel::modules() const {
    return capability::loadedModules();
}

Result<std::vector<model::FdbEntry>> RealKernel::dumpFdb(std::size_t most) const {
    return capability::dumpFdb(most);
}

Result<Kernel::Devices> RealKernel::xdpFeatures() const {
    return capability::readXdpFeatures();
}

Result<assemble::RulesInPlace> RealKernel::readRules() {
    return rules_.read();
}

Result<void> RealKernel::change(const introspect::ConnectionChange& change) {
    return introspect::changeConnection(change);
}

bool RealKernel::hasTcxAtIngress(model::IfIndex ifindex) const {
    return deploy::hasTcxAtIngress(ifindex);
}

bool RealKernel::hasTcxAtEgress(model::IfIndex ifindex) const {
    return deploy::hasTcxAtEgress(ifindex);
}

Result<std::set<model::IfIndex>> RealKernel::rings() const {
    return introspect::readRings();
}

Result<std::set<model::IfIndex>> RealKernel::promiscuousBridges() const {
    return introspect::readPromiscuousBridges();
}

} // namespace tna::daemon
