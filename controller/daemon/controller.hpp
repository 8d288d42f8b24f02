// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/backend.hpp"
#include "assemble/assemble.hpp"
#include "base/backoff.hpp"
#include "capability/fdb_proof.hpp"
#include "config/config.hpp"
#include "daemon/custom_modules.hpp"
#include "daemon/followers.hpp"
#include "daemon/loading.hpp"
#include "daemon/recheck.hpp"
#include "daemon/refused_ports.hpp"
#include "introspect/introspector.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

namespace tna::daemon {

/// What happened since the start, for people and tests.
struct Events {
    std::uint64_t swaps = 0;
    std::int64_t lastSwapMicroseconds = 0; ///< from the notification to the program in place
    std::int64_t lastSwapAt = 0;           ///< then, in nanoseconds of CLOCK_MONOTONIC
    std::uint64_t failures = 0;
    std::uint64_t selfChecksFailed = 0;
};

/// What remembered flows depend on, and cannot see by themselves that it has changed.
struct Presumed {
    std::map<model::IfIndex, std::pair<std::uint32_t, bool>> bridgeTimes; ///< for refreshing stations
    std::set<model::IfIndex> ignoresLinkDown; ///< links whose routes do not count while they are down
    bool allIgnoreLinkDown = false;
    bool operator==(const Presumed&) const = default;
};

/// What tests put in the place of the real thing.
struct Seams {
    /// Reads in place for the proof, through the probe.
    std::function<std::unique_ptr<capability::InPlaceReader>(deploy::KernelProbe&)> reader;
    std::size_t stationsBuffer = std::size_t{16} * 1024 * 1024; ///< bytes of announcements that may wait
};

/// Follows one network namespace and keeps its fast path as the configuration of Linux wants it.
/// Safe to call from several threads.
class Controller : public api::Backend {
public:
    [[nodiscard]] static Result<std::unique_ptr<Controller>> start(config::Config config, Seams seams = {},
                                                                   std::vector<UniqueFd> inherited = {});

    [[nodiscard]] int netlinkFd() const { return poll_.get(); }
    /// Takes in notifications and acts on them.
    [[nodiscard]] Result<void> onNetlink();
    /// Now and then: what has no notifications. In so short intervals:
    [[nodiscard]] std::chrono::milliseconds tick() const;
    void onTick();
    /// Whether there is nothing left to be prepared for later changes; settle() does one piece of it.
    [[nodiscard]] bool settled();
    void settle();
    /// What is attached, for the process after this one: until then all is left to Linux.
    [[nodiscard]] std::vector<UniqueFd> handOver();
    void setConfig(config::Config config);
    /// What the configuration says now is wrong.
    void refuseConfig(const Error& error);
    /// For people who ask systemd: how many ports are accelerated.
    [[nodiscard]] std::string summary();

    nlohmann::json status() override;
    std::optional<nlohmann::json> port(const std::string& name) override;
    Result<nlohmann::json> route(const std::string& port, const std::string& from,
                                 const std::string& to) override;
    nlohmann::json events() override;
    void follow(const std::shared_ptr<api::LineSink>& lines) override;
    Result<std::shared_ptr<void>> trace(const api::TraceWish& wish,
                                        const std::shared_ptr<api::LineSink>& lines) override;
    nlohmann::json graph() override;
    nlohmann::json capabilities() override;
    bool pause(const std::optional<std::string>& port, bool paused) override;
    nlohmann::json customModules() override;
    std::optional<nlohmann::json> customModule(const std::string& name,
                                               const std::optional<std::string>& map) override;
    Result<nlohmann::json> placeCustomModule(const std::string& name, const std::string& object,
                                             const api::Placement& placement, bool replace) override;
    Result<bool> removeCustomModule(const std::string& name) override;

private:
    Controller(config::Config config, Seams seams, std::unique_ptr<introspect::Introspector> introspector,
               capability::Capabilities capabilities, UniqueFd poll)
        : config_(std::move(config)), seams_(std::move(seams)), introspector_(std::move(introspector)),
          capabilities_(std::move(capabilities)), poll_(std::move(poll)) {}

    void reconcile(std::chrono::steady_clock::time_point since);
    [[nodiscard]] bool reconcileOnce(std::chrono::steady_clock::time_point since);
    void proveInPlace();
    void proveInPlaceFdb(capability::InPlaceReader& reader);
    [[nodiscard]] bool proved() const;
    void fallBack(const std::string& why);
    void adopt(Loaded loaded);
    [[nodiscard]] bool watched() const { return capabilities_.way == capability::Way::watched; }
    void readFeatures();
    void readTcx();
    void readVlanDevices();
    [[nodiscard]] bool pollWatched();
    void lookAgain();
    [[nodiscard]] bool recheck();
    void followWatched();
    void followStations();
    [[nodiscard]] bool dueAgain();
    /// Whether the fast path has paused a module of its own since the last time; says so.
    [[nodiscard]] bool followSelfCheck();
    void trustAgain();
    [[nodiscard]] nlohmann::json selfCheckDocument() const;
    void followModules();
    void useCustomModules();
    [[nodiscard]] Result<void> useOrUndo(const std::function<void()>& undo);
    [[nodiscard]] Result<void> traceable(const std::optional<std::string>& port) const;
    [[nodiscard]] assemble::Wishes wishes() const;
    [[nodiscard]] bool concerns(const introspect::Changes& changes) const;
    /// So many routes are many; nothing: none are.
    [[nodiscard]] std::optional<unsigned> manyRoutes() const;
    [[nodiscard]] nlohmann::json eventsDocument() const;
    using Failures = std::map<model::IfIndex, Error>;
    [[nodiscard]] bool dropGone(Failures& failures);
    void tellFailures(const Failures& failures);
    void tellChanges(const assemble::Plan& before, const Failures& failedBefore);
    void tellPorts(const assemble::Plan& before, const Failures& failedBefore);

    std::mutex mutex_;
    CustomModules custom_;
    config::Config config_;
    Seams seams_;
    std::unique_ptr<introspect::Introspector> introspector_;
    capability::Capabilities capabilities_;
    Loaded loaded_;
    UniqueFd poll_;
    std::set<model::IfIndex> tcxIngress_;
    std::set<model::IfIndex> tcxEgress_;
    std::optional<std::set<model::IfIndex>> underVlanDevices_;
    std::optional<std::chrono::steady_clock::time_point> disprovedSince_;
    bool saidFull_ = false; ///< that the mirror has no room
    assemble::Plan plan_;
    Failures failures_;
    Backoff retry_;        ///< of ports that failed
    bool informed_ = true; ///< what Linux is told could be read
    std::set<std::string> paused_;
    bool allPaused_ = false;
    Recheck recheck_{std::chrono::steady_clock::now()};
    bool again_ = false;                  ///< to be decided anew
    std::vector<std::string> mistrusted_; ///< what has been said of the self-check
    RefusedPorts refusedPorts_;
    Presumed presumed_;
    using Modules = std::map<std::string, std::uint64_t>;
    Modules modules_; ///< for which the fast path was loaded
    Modules modulesTried_;
    Backoff retryModules_; ///< for those
    Events events_;
    Followers followers_;
    std::set<std::string> traces_; ///< by the names of their modules
    unsigned lastTrace_ = 0;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

} // namespace tna::daemon
