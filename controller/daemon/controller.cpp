// SPDX-License-Identifier: Apache-2.0
#include "daemon/controller.hpp"

#include "capability/kernel.hpp"
#include "capability/modules.hpp"
#include "capability/vlan_proof.hpp"
#include "daemon/views.hpp"
#include "deploy/kernel/requirements.hpp"
#include "graph/graph.hpp"

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/chrono.h>
#include <spdlog/spdlog.h>
#include <sys/epoll.h>

namespace tna::daemon {

namespace {
/// Stations compared in the proof: enough to meet every chain of a small table and some of a large one.
constexpr std::size_t proofEntries = 512;
/// Stations may come and go between the dump and the look.
constexpr int proofAttempts = 3;
/// So does the state of ports. What stays different is different.
constexpr auto disproofLasts = std::chrono::seconds(2);

class ProbeReader : public capability::InPlaceReader {
public:
    explicit ProbeReader(deploy::KernelProbe& probe) : probe_(probe) {}
    Result<capability::PortFacts> readPort(model::IfIndex port) override { return probe_.readPort(port); }
    Result<std::optional<capability::EntryFacts>> readEntry(model::IfIndex port, const model::MacAddress& mac,
                                                            std::uint16_t vlan) override {
        return probe_.readEntry(port, mac, vlan);
    }
    Result<capability::VlanFacts> readVlan(model::IfIndex port, std::uint16_t vid) override {
        return probe_.readVlan(port, vid);
    }

private:
    deploy::KernelProbe& probe_;
};

Result<UniqueFd> pollOf(int fd) {
    UniqueFd poll{::epoll_create1(EPOLL_CLOEXEC)};
    epoll_event event{.events = EPOLLIN, .data = {}};
    if (!poll || ::epoll_ctl(poll.get(), EPOLL_CTL_ADD, fd, &event) != 0)
        return failErrno(errno, "cannot watch netlink");
    return poll;
}
} // namespace

Result<std::unique_ptr<Controller>> Controller::start(config::Config config, Seams seams,
                                                      std::vector<UniqueFd> inherited) {
    if (auto missing = deploy::missingRequirement(deploy::thisMachine()))
        return std::unexpected(std::move(*missing));
    // Reading /proc/kallsyms takes 100 ms: meanwhile, the namespace is read and the probe is loaded.
    auto kernel = std::async(std::launch::async, capability::probeKernel);
    auto introspector = introspect::Introspector::open();
    if (!introspector)
        return std::unexpected(introspector.error());
    auto poll = pollOf((*introspector)->pollFd());
    if (!poll)
        return std::unexpected(poll.error());
    auto modules = capability::loadedModules();
    auto probe = loadProbe(config);
    auto capabilities = kernel.get();
    if (!capabilities)
        return std::unexpected(capabilities.error());
    auto loaded = loadFastPath(config, std::move(probe), *capabilities, seams.stationsBuffer);
    if (!loaded)
        return std::unexpected(loaded.error());
    std::unique_ptr<Controller> controller{new Controller(std::move(config), std::move(seams),
                                                          std::move(*introspector), std::move(*capabilities),
                                                          std::move(*poll))};
    controller->modules_ = std::move(modules);
    controller->custom_.readDirectory(controller->config_.modules.directory);
    if (!inherited.empty())
        spdlog::info("{} ports stay attached as the process before has left them", inherited.size());
    loaded->fastPath->inherit(std::move(inherited));
    controller->adopt(std::move(*loaded));
    controller->reconcile(std::chrono::steady_clock::now());
    return controller;
}

void Controller::proveInPlace() {
    if (watched())
        return;
    auto reader =
        seams_.reader ? seams_.reader(*loaded_.probe) : std::make_unique<ProbeReader>(*loaded_.probe);
    if (!capabilities_.inPlaceVlans.available)
        capabilities_.inPlaceVlans = capability::proveInPlaceVlans(*reader, introspector_->network());
    if (!capabilities_.inPlaceFdb.available)
        proveInPlaceFdb(*reader);
}

void Controller::proveInPlaceFdb(capability::InPlaceReader& reader) {
    bool disproved = true;
    for (int attempt = 0; attempt < proofAttempts && disproved; attempt++) {
        // A port may have changed its state since it was announced last.
        if (attempt > 0 && !introspector_->process())
            return;
        const auto entries = capability::dumpFdb(proofEntries);
        if (!entries) {
            capabilities_.inPlaceFdb = {false, entries.error().sentence()};
            return;
        }
        const auto proof = capability::proveInPlaceFdb(reader, introspector_->network(), *entries);
        capabilities_.inPlaceFdb = proof;
        disproved = proof.disproved;
    }
    if (!disproved) {
        disprovedSince_.reset();
        return;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now - disprovedSince_.value_or(now) >= disproofLasts)
        fallBack(capabilities_.inPlaceFdb.detail);
    disprovedSince_ = disprovedSince_.value_or(now);
}

/// Whether all has been proved that what is configured needs.
bool Controller::proved() const {
    const auto& links = introspector_->network().links;
    const bool filters = std::ranges::any_of(
        links, [](const auto& item) { return item.second.bridge && item.second.bridge->vlanFiltering; });
    return capabilities_.inPlaceFdb.available && (capabilities_.inPlaceVlans.available || !filters);
}

Result<void> Controller::onNetlink() {
    const std::lock_guard lock{mutex_};
    const auto since = std::chrono::steady_clock::now();
    const auto changes = introspector_->process();
    informed_ = changes.has_value();
    if (changes && concerns(*changes))
        reconcile(since);
    followWatched();
    return changes ? Result<void>{} : std::unexpected(changes.error());
}

void Controller::onTick() {
    const std::lock_guard lock{mutex_};
    const auto refreshed = introspector_->refreshSysctls();
    followModules();
    const bool cut = recheck();
    const auto changes = introspector_->process();
    if (informed_ && !(refreshed && changes))
        spdlog::error("{}", (changes ? refreshed.error() : changes.error()).sentence());
    informed_ = refreshed && changes;
    const bool different = watched() ? pollWatched() : !proved();
    if (followSelfCheck() || (changes && concerns(*changes)) || different || cut || again_ || dueAgain())
        reconcile(std::chrono::steady_clock::now());
    followWatched();
}

/// Whether something is to be decided anew.
bool Controller::concerns(const introspect::Changes& changes) const {
    return changes.any || (changes.counts && assemble::hasManyRoutes(introspector_->network(),
                                                                     manyRoutes()) != plan_.wide.manyRoutes);
}

/// What the kernel refused is tried again, at first soon; also to tell what drivers can do.
bool Controller::dueAgain() {
    const auto now = std::chrono::steady_clock::now();
    if (failures_.empty() && (watched() || capabilities_.driversTell)) {
        retry_.reset(now);
        return false;
    }
    return retry_.isDue(now);
}

bool Controller::settled() {
    const std::lock_guard lock{mutex_};
    return loaded_.fastPath->settled();
}

void Controller::settle() {
    const std::lock_guard lock{mutex_};
    loaded_.fastPath->settleNext();
}

void Controller::setConfig(config::Config config) {
    const std::lock_guard lock{mutex_};
    config_ = std::move(config);
    custom_.readDirectory(config_.modules.directory);
    useCustomModules();
    lookAgain();
    reconcile(std::chrono::steady_clock::now());
    followers_.tell({{"event", "configuration"}, {"action", "read"}});
}

void Controller::refuseConfig(const Error& error) {
    spdlog::error("{}; the configuration stays as it was", error.sentence());
    followers_.tell({{"event", "configuration"}, {"action", "refused"}, {"why", error.sentence()}});
}

std::vector<UniqueFd> Controller::handOver() {
    const std::lock_guard lock{mutex_};
    return loaded_.fastPath->handOver();
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
        // A port that is none at present can be resumed for when it is one again.
        if (!known && (paused || !paused_.contains(*port)))
            return false;
        if (paused)
            paused_.insert(*port);
        else
            paused_.erase(*port);
    }
    if (!paused)
        trustAgain();
    followers_.tell(
        {{"event", paused ? "pause" : "resume"}, {"port", port ? nlohmann::json(*port) : nlohmann::json()}});
    if (!paused)
        lookAgain();
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
        {"fdb", fdbWay(capabilities_)},
        {"ports", viewPorts({introspector_->network(), plan_, loaded_.fastPath->counters(), failures_})},
        {"events", eventsDocument()},
        {"self_check", selfCheckDocument()},
    };
    return document;
}

nlohmann::json Controller::eventsDocument() const {
    return {{"netlink", introspector_->stats().events},
            {"resyncs", introspector_->stats().resyncs},
            {"swaps", events_.swaps},
            {"last_swap_us", events_.lastSwapMicroseconds},
            {"last_swap_at_ns", events_.lastSwapAt},
            {"settled", loaded_.fastPath->settled()},
            {"fdb_readings", loaded_.stations ? loaded_.stations->stats().readings : 0},
            {"failures", events_.failures},
            {"self_checks_failed", events_.selfChecksFailed}};
}

nlohmann::json Controller::events() {
    const std::lock_guard lock{mutex_};
    auto document = eventsDocument();
    document["api"] = 1;
    return document;
}

void Controller::follow(const std::shared_ptr<api::LineSink>& lines) {
    followers_.add(lines);
}

std::optional<nlohmann::json> Controller::port(const std::string& name) {
    const std::lock_guard lock{mutex_};
    return viewPort({introspector_->network(), plan_, loaded_.fastPath->counters(), failures_}, name);
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
