// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/backend.hpp"
#include "daemon/module_control.hpp"

#include <mutex>

namespace tna::daemon {

/// What the control socket asks about custom modules, from several threads. The kernel takes its time to
/// verify them, which is done without the lock.
class ModuleRequests : public api::ModuleBackend {
public:
    /// What is passed must outlive it; `lock` is that of who works with the modules.
    ModuleRequests(std::mutex& lock, ModuleControl& modules) : mutex_(lock), modules_(modules) {}

    nlohmann::json list() override;
    std::optional<nlohmann::json> find(const std::string& name,
                                       const std::optional<std::string>& map) override;
    Result<nlohmann::json> place(const std::string& name, const std::string& object,
                                 const api::Placement& placement, bool replace) override;
    Result<bool> remove(const std::string& name) override;

private:
    std::mutex& mutex_;
    ModuleControl& modules_;
};

} // namespace tna::daemon
