// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/backend.hpp"
#include "assemble/assemble.hpp"
#include "deploy/results/data_path.hpp"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tna/decision.h>
#include <utility>
#include <vector>

namespace tna::daemon {

/// The custom modules of a namespace: what they are, where they are wanted, and the directory that they are
/// kept in. They outlive the pipelines that they are put into.
class CustomModules {
public:
    struct Module {
        std::string identity; ///< another one for each object, so that what is in place can be told from it
        std::shared_ptr<const deploy::ModuleObject> object;
        api::Placement placement;
        std::array<bool, TNA_HOOK_COUNT> functions{};      ///< the hooks that it has functions for
        std::array<bool, TNA_HOOK_COUNT> functionsAtTcx{}; ///< the same for ports at tcx
        bool kept = false;                                 ///< in the directory
        std::uint64_t hash = 0;
        /// What is in the directory still, because this one could not be kept.
        std::optional<std::pair<std::uint64_t, api::Placement>> instead;
    };

    [[nodiscard]] static Module make(std::string identity, std::shared_ptr<const deploy::ModuleObject> object,
                                     api::Placement placement);

    /// What a reading of the directory has brought.
    struct Change {
        std::string name;
        const char* action;           ///< "inserted", "replaced", "removed", "refused"
        std::optional<Error> refused; ///< why
    };
    /// Takes in what has come, changed or gone in the directory. What is refused there, and what cannot be
    /// read, changes nothing.
    [[nodiscard]] std::vector<Change> readDirectory(const std::string& directory);

    /// Checks and verifies; nothing is in place afterwards. Needs no lock.
    [[nodiscard]] static Result<Module> load(const std::string& name, const std::string& object,
                                             const api::Placement& placement);
    /// Returns what was there before.
    std::optional<Module> put(const std::string& name, Module module);
    /// False if there is none.
    bool remove(const std::string& name);
    /// Writes it into the directory, or takes it out.
    [[nodiscard]] Result<void> keep(const std::string& name, const std::string& object);
    [[nodiscard]] Result<void> forget(const std::string& name) const;

    [[nodiscard]] const Module* find(const std::string& name) const;
    [[nodiscard]] const std::map<std::string, Module>& all() const { return modules_; }
    [[nodiscard]] deploy::ModulesById byIdentity() const;
    /// For each link, what is wanted there, in the order of priorities and then of names.
    [[nodiscard]] std::map<model::IfIndex, assemble::CustomModules> on(const model::Network& network) const;
    /// The hooks at which they have functions for ports at tcx, too.
    [[nodiscard]] std::set<std::pair<std::string, tna_hook>> atTcx() const;

private:
    /// Nothing where it is as it was.
    [[nodiscard]] std::optional<Change> readFrom(const std::string& path, const std::string& name);

    std::map<std::string, Module> modules_;
    std::string directory_;
};

} // namespace tna::daemon
