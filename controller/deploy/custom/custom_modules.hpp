// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/manifest.hpp"
#include "deploy/custom/module_chain.hpp"
#include "deploy/results/data_path.hpp"

#include <string>
#include <vector>

namespace tna::deploy {

/// The custom modules that plans may name, by identity, and programs made of them, for ports at XDP or at
/// tcx.
class CustomModuleSet {
public:
    CustomModuleSet(const SharedMaps& maps, assemble::Hook at) : maps_(maps), at_(at) {}

    void replace(ModulesById modules) { modules_ = std::move(modules); }

    /// One after the other at a hook; `last` is the program behind the last one, -1: there is none.
    [[nodiscard]] Result<ModuleChain> chain(const std::vector<std::string>& ids, tna_hook hook,
                                            int last) const;
    /// `program` with modules at its marks for a hook, and `last` behind them, as one program.
    [[nodiscard]] Result<Instructions> join(const Instructions& program, const std::vector<std::string>& ids,
                                            tna_hook hook, Instructions last) const;
    /// Whether one of those behind a profile's decisions may do something at its hook.
    [[nodiscard]] bool any(const assemble::Profile& profile,
                           bool (ModuleObject::*does)(tna_hook, assemble::Hook) const) const;

private:
    using Modules = std::vector<std::shared_ptr<const ModuleObject>>;
    [[nodiscard]] Result<Modules> named(const std::vector<std::string>& ids) const;

    SharedMaps maps_;
    assemble::Hook at_;
    ModulesById modules_;
};

} // namespace tna::deploy
