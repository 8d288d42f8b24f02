// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "deploy/custom/module_object.hpp"

#include <memory>
#include <span>
#include <vector>

namespace tna::deploy {

/// At one hook: frames may pass them by tail calls, of which the kernel lets a frame make 33.
constexpr std::size_t mostModulesInChain = 8;

/// Custom modules at one hook, one after the other, each of which ends in a tail call to the next.
class ModuleChain {
public:
    /// For ports at XDP or at tcx. `last` is the program behind the last module; -1: there is none.
    [[nodiscard]] static Result<ModuleChain>
    load(std::span<const std::shared_ptr<const ModuleObject>> modules, tna_hook hook, assemble::Hook at,
         int last, const SharedMaps& maps);

    [[nodiscard]] bool empty() const { return links_.empty(); }
    /// The first module's program.
    [[nodiscard]] int head() const { return links_.back().program.get(); }

private:
    /// A program, and the slot in which it finds the next one: the kernel empties a slot that nobody holds.
    struct Link {
        UniqueFd program;
        UniqueFd next;
    };
    std::vector<Link> links_; ///< from the last to the first
};

/// The same modules as one program, with `last` behind them, which is a part of it too; nothing where that
/// cannot be.
[[nodiscard]] std::optional<Instructions>
joinChain(std::span<const std::shared_ptr<const ModuleObject>> modules, tna_hook hook, assemble::Hook at,
          Instructions last, const SharedMaps& maps);

/// A slot for a tail call, with a program in it unless that is -1.
[[nodiscard]] Result<UniqueFd> makeTailCallSlot(int program);

} // namespace tna::deploy
