// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/supervisor.hpp"

#include <nlohmann/json_fwd.hpp>

namespace tna::daemon {

/// Puts custom modules in place, takes them out, and tells of them, in the words of docs/api.md. What the
/// kernel needs for verifying one is not to keep the network waiting: CustomModules::load() comes between
/// checkPlace() and place(), without a lock.
class ModuleControl {
public:
    ModuleControl(Supervisor& supervisor, Wanted& wanted, Reporter& reporter)
        : supervisor_(supervisor), modules_(wanted.modules), reporter_(reporter) {}

    /// Takes in the directory, and tells what has changed.
    void readDirectory(const std::string& directory);
    /// Whether one of this name may be inserted, or replaced.
    [[nodiscard]] Result<void> checkPlace(const std::string& name, bool replace) const;
    /// Nothing is different where it cannot be in place.
    [[nodiscard]] Result<nlohmann::json> place(const std::string& name, const std::string& object,
                                               CustomModules::Module module, bool replace);
    /// False if there is none.
    [[nodiscard]] Result<bool> remove(const std::string& name);

    [[nodiscard]] nlohmann::json list() const;
    /// Nothing if there is no such module, or no such map of its own where one is named.
    [[nodiscard]] std::optional<nlohmann::json> find(const std::string& name,
                                                     const std::optional<std::string>& map) const;

private:
    Supervisor& supervisor_;
    CustomModules& modules_;
    Reporter& reporter_;
};

} // namespace tna::daemon
