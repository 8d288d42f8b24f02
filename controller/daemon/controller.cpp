// SPDX-License-Identifier: Apache-2.0
#include "daemon/controller.hpp"

#include "capability/fdb_proof.hpp"
#include "capability/kernel.hpp"
#include "capability/modules.hpp"
#include "capability/vlan_proof.hpp"
#include "capability/xdp_features.hpp"
#include "config/selection.hpp"
#include "daemon/views.hpp"
#include "deploy/requirements.hpp"
#include "graph/graph.hpp"

#include <algorithm>
#include <future>
#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
/// Stations compared in the proof: enough to meet every chain of a small table and some of a large one.
constexpr std::size_t proofEntries = 512;
/// Stations may come and go between the dump and the look.
constexpr int proofAttempts = 3;

class ProbeReader : public capability::InPlaceReader {
public:
    explicit ProbeReader(deploy::KernelProbe& probe) : probe_(probe) {}
    Result<deploy::PortFacts> readPort(model::IfIndex port) override { return probe_.readPort(port); }
    Result<std::optional<deploy::EntryFacts>> readEntry(model::IfIndex port, const model::MacAddress& mac,
                                                        std::uint16_t vlan) override {
        return probe_.readEntry(port, mac, vlan);
    }
    Result<deploy::VlanFacts> readVlan(model::IfIndex port, std::uint16_t vid) override {
        return probe_.readVlan(port, vid);
    }

private:
    deploy::KernelProbe& probe_;
};

/// What the refreshing of stations depends on.
BridgeTimes bridgeTimes(const model::Network& network) {
    BridgeTimes times;
    for (const auto& [ifindex, link] : network.links)
        if (link.bridge)
            times[ifindex] = {link.bridge->ageingTime, link.bridge->topologyChange};
    return times;
}

struct Loaded {
    std::optional<deploy::KernelProbe> probe;
    std::unique_ptr<deploy::FastPath> fastPath;
};

Result<Loaded> loadFastPath(const config::Limits& limits, const capability::Capabilities& capabilities,
                            deploy::KernelProbe probe) {
    const auto facts = probe.readNamespace();
    if (!facts)
        return std::unexpected(facts.error());
    auto fastPath = deploy::FastPath::load({limits.maxPorts, limits.flowsPerCpu}, *facts,
                                           capabilities.hookFunctions, probe.casts());
    if (!fastPath)
        return std::unexpected(fastPath.error());
    return Loaded{std::move(probe), std::move(*fastPath)};
}
} // namespace

Result<std::unique_ptr<Controller>> Controller::start(config::Config config) {
    if (auto missing = deploy::missingRequirement(deploy::thisMachine()))
        return std::unexpected(std::move(*missing));
    // Reading /proc/kallsyms takes 100 ms: meanwhile, the namespace is read and the probe is loaded.
    auto kernel = std::async(std::launch::async, capability::probeKernel);
    auto introspector = introspect::Introspector::open();
    if (!introspector)
        return std::unexpected(introspector.error());
    auto modules = capability::loadedModules();
    auto probe = deploy::KernelProbe::load();
    if (!probe)
        return std::unexpected(probe.error());
    auto capabilities = kernel.get();
    auto loaded = loadFastPath(config.limits, capabilities, std::move(*probe));
    if (!loaded)
        return std::unexpected(loaded.error());
    capabilities.fastPath = {true, "the pipeline loads"};
    std::unique_ptr<Controller> controller{new Controller(std::move(config), std::move(*introspector),
                                                          std::move(capabilities), std::move(loaded->probe),
                                                          std::move(loaded->fastPath))};
    controller->modules_ = std::move(modules);
    controller->reconcile(std::chrono::steady_clock::now());
    return controller;
}

/// A module brings types and functions that could not be known before, or takes them away. What was loaded
/// without them leaves its frames to Linux, so there is no hurry.
void Controller::followModules() {
    auto modules = capability::loadedModules();
    if (modules == modules_)
        return;
    modules_ = std::move(modules);
    auto probe = deploy::KernelProbe::load();
    auto capabilities = capability::probeKernel();
    auto loaded = probe ? loadFastPath(config_.limits, capabilities, std::move(*probe))
                        : Result<Loaded>{std::unexpected(probe.error())};
    if (!loaded) {
        spdlog::error("{}; ports stay with what was loaded before", loaded.error().sentence());
        return;
    }
    spdlog::info("kernel modules came or went: the fast path is loaded anew");
    capabilities.fastPath = capabilities_.fastPath;
    capabilities_ = std::move(capabilities);
    probe_ = std::move(loaded->probe);
    wereAttached_ = wishes().attached;
    fastPath_ = std::move(loaded->fastPath);
    reconcile(std::chrono::steady_clock::now());
    wereAttached_.clear();
}

void Controller::proveInPlace() {
    if (!probe_)
        return;
    ProbeReader reader{*probe_};
    if (!capabilities_.inPlaceVlans.available)
        capabilities_.inPlaceVlans = capability::proveInPlaceVlans(reader, introspector_->network());
    for (int attempt = 0; attempt < proofAttempts && !capabilities_.inPlaceFdb.available; attempt++) {
        const auto entries = capability::dumpFdb(proofEntries);
        capabilities_.inPlaceFdb =
            entries ? capability::proveInPlaceFdb(reader, introspector_->network(), *entries)
                    : capability::Finding{false, entries.error().sentence()};
    }
}

/// Whether all has been proved that what is configured needs.
bool Controller::proved() const {
    const auto& links = introspector_->network().links;
    const bool filters = std::ranges::any_of(
        links, [](const auto& item) { return item.second.bridge && item.second.bridge->vlanFiltering; });
    return capabilities_.inPlaceFdb.available && (capabilities_.inPlaceVlans.available || !filters);
}

assemble::Wishes Controller::wishes() const {
    assemble::Wishes wishes;
    wishes.allPaused = allPaused_;
    for (const auto& [ifindex, link] : introspector_->network().links) {
        if (auto excluded = config::excludedBy(config_.ports, link.name, link.driver, link.kind))
            wishes.excluded[ifindex] = {excluded->code, excluded->sentence, excluded->hint};
        if (paused_.contains(link.name))
            wishes.paused.insert(ifindex);
        if (fastPath_->attached(ifindex) || wereAttached_.contains(ifindex))
            wishes.attached.insert(ifindex);
    }
    return wishes;
}

void Controller::reconcile(std::chrono::steady_clock::time_point since) {
    if (auto devices = capability::readXdpFeatures())
        capabilities_.devices = std::move(*devices);
    else
        spdlog::warn("{}", devices.error().sentence());
    proveInPlace();
    const auto before =
        std::exchange(plan_, assemble::assemble(introspector_->network(), capabilities_, wishes()));
    auto applied = fastPath_->apply(plan_, introspector_->network());
    if (auto times = bridgeTimes(introspector_->network()); times != bridgeTimes_) {
        bridgeTimes_ = std::move(times);
        fastPath_->forgetFlows();
    }
    events_.swaps += applied.swapped;
    if (applied.swapped > 0) {
        const auto now = std::chrono::steady_clock::now();
        events_.lastSwapMicroseconds =
            std::chrono::duration_cast<std::chrono::microseconds>(now - since).count();
        events_.lastSwapAt = now.time_since_epoch() / std::chrono::nanoseconds(1);
    }
    for (const auto& [ifindex, error] : applied.failures)
        if (!failures_.contains(ifindex)) {
            events_.failures++;
            spdlog::warn("{}", error.sentence());
        }
    failures_ = std::move(applied.failures);
    logChanges(before);
}

void Controller::logChanges(const assemble::Plan& before) const {
    for (const auto& [ifindex, port] : plan_.ports) {
        const auto old = before.ports.find(ifindex);
        if (old != before.ports.end() && old->second == port)
            continue;
        if (port.profile)
            spdlog::info("{}: accelerated, profile {}", port.name, port.profile->name());
        else
            spdlog::info("{}: left to Linux: {}", port.name,
                         port.reasons.empty() ? "" : port.reasons.front().text);
    }
}

Result<void> Controller::onNetlink() {
    const std::lock_guard lock{mutex_};
    const auto since = std::chrono::steady_clock::now();
    const auto changes = introspector_->process();
    if (!changes)
        return std::unexpected(changes.error());
    if (changes->any)
        reconcile(since);
    return {};
}

void Controller::onTick() {
    const std::lock_guard lock{mutex_};
    introspector_->refreshSysctls();
    followModules();
    const auto changes = introspector_->process();
    if ((changes && changes->any) || !proved())
        reconcile(std::chrono::steady_clock::now());
}

bool Controller::settled() {
    const std::lock_guard lock{mutex_};
    return fastPath_->settled();
}

void Controller::settle() {
    const std::lock_guard lock{mutex_};
    fastPath_->settleNext();
}

void Controller::setConfig(config::Config config) {
    const std::lock_guard lock{mutex_};
    config_ = std::move(config);
    reconcile(std::chrono::steady_clock::now());
}

bool Controller::pause(const std::optional<std::string>& port, bool paused) {
    const std::lock_guard lock{mutex_};
    if (!port) {
        allPaused_ = paused;
        if (!paused)
            paused_.clear();
    } else {
        const auto known =
            std::ranges::any_of(plan_.ports, [&](const auto& item) { return item.second.name == *port; });
        if (!known)
            return false;
        if (paused)
            paused_.insert(*port);
        else
            paused_.erase(*port);
    }
    reconcile(std::chrono::steady_clock::now());
    return true;
}

nlohmann::json Controller::status() {
    const std::lock_guard lock{mutex_};
    const auto uptime = std::chrono::steady_clock::now() - started_;
    nlohmann::json document = {
        {"api", 1},
        {"version", TNA_VERSION},
        {"pid", ::getpid()},
        {"uptime_s", std::chrono::duration_cast<std::chrono::seconds>(uptime).count()},
        {"paused", allPaused_},
        {"fdb", capabilities_.inPlaceFdb.available ? "in place" : "not available"},
        {"ports", viewPorts({introspector_->network(), plan_, fastPath_->counters(), failures_})},
        {"events", eventsDocument()},
    };
    return document;
}

nlohmann::json Controller::eventsDocument() const {
    return {{"netlink", introspector_->stats().events},
            {"resyncs", introspector_->stats().resyncs},
            {"swaps", events_.swaps},
            {"last_swap_us", events_.lastSwapMicroseconds},
            {"last_swap_at_ns", events_.lastSwapAt},
            {"settled", fastPath_->settled()},
            {"failures", events_.failures}};
}

nlohmann::json Controller::events() {
    const std::lock_guard lock{mutex_};
    auto document = eventsDocument();
    document["api"] = 1;
    return document;
}

std::optional<nlohmann::json> Controller::port(const std::string& name) {
    const std::lock_guard lock{mutex_};
    return viewPort({introspector_->network(), plan_, fastPath_->counters(), failures_}, name);
}

nlohmann::json Controller::graph() {
    const std::lock_guard lock{mutex_};
    return viewGraph(graph::build(introspector_->network()), plan_);
}

nlohmann::json Controller::capabilities() {
    const std::lock_guard lock{mutex_};
    return viewCapabilities(capabilities_, introspector_->network());
}

} // namespace tna::daemon
