// SPDX-License-Identifier: Apache-2.0
#include "daemon/module_requests.hpp"

#include <nlohmann/json.hpp>

namespace tna::daemon {

using nlohmann::json;

json ModuleRequests::list() {
    const std::lock_guard lock{mutex_};
    return modules_.list();
}

std::optional<json> ModuleRequests::find(const std::string& name, const std::optional<std::string>& map) {
    const std::lock_guard lock{mutex_};
    return modules_.find(name, map);
}

Result<json> ModuleRequests::place(const std::string& name, const std::string& object,
                                   const api::Placement& placement, bool replace) {
    {
        const std::lock_guard lock{mutex_};
        if (auto possible = modules_.checkPlace(name, replace); !possible)
            return std::unexpected(possible.error());
    }
    // What the kernel needs for verifying is not to keep the network waiting.
    auto module = CustomModules::load(name, object, placement);
    if (!module)
        return std::unexpected(module.error());
    const std::lock_guard lock{mutex_};
    return modules_.place(name, object, std::move(*module), replace);
}

Result<bool> ModuleRequests::remove(const std::string& name) {
    const std::lock_guard lock{mutex_};
    return modules_.remove(name);
}

} // namespace tna::daemon
