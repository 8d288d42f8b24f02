// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/backend.hpp"
#include "assemble/assemble.hpp"
#include "config/config.hpp"
#include "deploy/fast_path.hpp"
#include "introspect/introspector.hpp"

#include <chrono>
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
};

using BridgeTimes = std::map<model::IfIndex, std::pair<std::uint32_t, bool>>;

/// Follows one network namespace and keeps its fast path as the configuration of Linux wants it.
/// Safe to call from several threads.
class Controller : public api::Backend {
public:
    [[nodiscard]] static Result<std::unique_ptr<Controller>> start(config::Config config);

    [[nodiscard]] int netlinkFd() const { return introspector_->pollFd(); }
    /// Takes in notifications and acts on them.
    [[nodiscard]] Result<void> onNetlink();
    /// Now and then: what has no notifications.
    void onTick();
    /// Whether there is nothing left to be prepared for later changes; settle() does one piece of it.
    [[nodiscard]] bool settled();
    void settle();
    void setConfig(config::Config config);

    nlohmann::json status() override;
    std::optional<nlohmann::json> port(const std::string& name) override;
    nlohmann::json events() override;
    nlohmann::json graph() override;
    nlohmann::json capabilities() override;
    bool pause(const std::optional<std::string>& port, bool paused) override;

private:
    Controller(config::Config config, std::unique_ptr<introspect::Introspector> introspector,
               capability::Capabilities capabilities, std::optional<deploy::KernelProbe> probe,
               std::unique_ptr<deploy::FastPath> fastPath)
        : config_(std::move(config)), introspector_(std::move(introspector)),
          capabilities_(std::move(capabilities)), probe_(std::move(probe)), fastPath_(std::move(fastPath)) {}

    void reconcile(std::chrono::steady_clock::time_point since);
    void proveInPlace();
    [[nodiscard]] bool proved() const;
    void followModules();
    [[nodiscard]] assemble::Wishes wishes() const;
    [[nodiscard]] nlohmann::json eventsDocument() const;
    void logChanges(const assemble::Plan& before) const;

    std::mutex mutex_;
    config::Config config_;
    std::unique_ptr<introspect::Introspector> introspector_;
    capability::Capabilities capabilities_;
    std::optional<deploy::KernelProbe> probe_;
    std::unique_ptr<deploy::FastPath> fastPath_;
    assemble::Plan plan_;
    std::map<model::IfIndex, Error> failures_;
    std::set<std::string> paused_;
    bool allPaused_ = false;
    BridgeTimes bridgeTimes_;
    std::map<std::string, std::uint64_t> modules_; ///< for which the fast path was loaded
    /// While the fast path is exchanged: the kernel does not announce that our programs are gone.
    std::set<model::IfIndex> wereAttached_;
    Events events_;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

} // namespace tna::daemon
