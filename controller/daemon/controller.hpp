// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/peer.hpp"
#include "daemon/function_control.hpp"
#include "daemon/module_control.hpp"
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
    void setConfig(config::Config config);
    /// What the configuration says now is wrong.
    void refuseConfig(const Error& error) { reporter_.configurationRefused(error); }
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
    nlohmann::json customModules() override;
    std::optional<nlohmann::json> customModule(const std::string& name,
                                               const std::optional<std::string>& map) override;
    Result<nlohmann::json> placeCustomModule(const std::string& name, const std::string& object,
                                             const api::Placement& placement, bool replace) override;
    Result<bool> removeCustomModule(const std::string& name) override;
    nlohmann::json networkFunctions() override;
    std::optional<nlohmann::json> networkFunction(const std::string& name) override;
    Result<nlohmann::json> declareFunction(const std::string& name, const std::string& text) override;
    Result<bool> removeFunction(const std::string& name) override;
    Result<bool> bypassFunction(const std::string& name, bool bypassed) override;

    /// A process wants to be a network function; see FunctionServer, which calls it from one thread.
    [[nodiscard]] std::expected<HandedOver, FunctionControl::Refused>
    connectFunction(const std::string& name, const api::Peer& peer, FunctionCaller caller);
    void functionGone(std::uint64_t connection);

private:
    Controller(config::Config config, std::unique_ptr<Kernel> kernel,
               std::unique_ptr<introspect::NetworkSource> source);

    template <typename Ask>
    auto locked(Ask ask) {
        const std::lock_guard lock{mutex_};
        return ask();
    }

    std::mutex mutex_;
    Wanted wanted_;
    Reporter reporter_;
    Supervisor supervisor_;
    ModuleControl modules_;
    FunctionControl functions_;
    TraceControl traces_;
    Questions questions_;
    RuleQuestion ruleQuestion_;
};

} // namespace tna::daemon
