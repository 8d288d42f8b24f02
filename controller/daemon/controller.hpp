// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/function_requests.hpp"
#include "daemon/module_requests.hpp"
#include "daemon/questions.hpp"
#include "daemon/real_kernel.hpp"
#include "daemon/rule_question.hpp"
#include "daemon/trace_control.hpp"

#include <mutex>

namespace tna::daemon {

/// The daemon as its event loop and its control socket use it, from several threads: it has the lock, and for
/// each subject somebody who works under it.
class Controller : public api::Backend {
public:
    /// Follows the network namespace of the calling thread.
    [[nodiscard]] static Result<std::unique_ptr<Controller>> start(config::Config config, Seams seams = {},
                                                                   std::vector<UniqueFd> inherited = {});

    [[nodiscard]] int netlinkFd() const { return supervisor_.pollFd(); }
    /// Takes in notifications and acts on them.
    [[nodiscard]] Result<void> onNetlink();
    /// Now and then: what has no notifications. In so short intervals:
    [[nodiscard]] std::chrono::milliseconds tick();
    void onTick();
    /// Whether there is nothing left to be prepared for later changes; settle() does one piece of it.
    [[nodiscard]] bool settled();
    void settle();
    /// What is attached, for the process after this one: until then all is left to Linux.
    [[nodiscard]] std::vector<UniqueFd> handOver();
    /// What the configuration says now, or what is wrong with it.
    void setConfig(Result<config::Config> config);
    [[nodiscard]] std::string summary();

    nlohmann::json status() override;
    std::optional<nlohmann::json> port(const std::string& name) override;
    Result<nlohmann::json> route(const std::string& port, const std::string& from,
                                 const std::string& to) override;
    nlohmann::json events() override;
    void follow(const std::shared_ptr<api::LineSink>& lines) override { reporter_.follow(lines); }
    Result<std::shared_ptr<void>> trace(const api::TraceWish& wish,
                                        const std::shared_ptr<api::LineSink>& lines) override;
    nlohmann::json graph() override;
    nlohmann::json capabilities() override;
    nlohmann::json rules() override;
    bool pause(const std::optional<std::string>& port, bool paused) override;
    api::ModuleBackend& modules() override { return moduleRequests_; }
    FunctionRequests& functions() override { return functionRequests_; }

private:
    Controller(config::Config config, std::unique_ptr<Kernel> kernel,
               std::unique_ptr<introspect::NetworkSource> source);

    std::mutex mutex_;
    Wanted wanted_;
    Reporter reporter_;
    Supervisor supervisor_;
    ModuleControl modules_;
    FunctionControl functions_;
    ModuleRequests moduleRequests_;
    FunctionRequests functionRequests_;
    TraceControl traces_;
    Questions questions_;
    RuleQuestion ruleQuestion_;
};

} // namespace tna::daemon
