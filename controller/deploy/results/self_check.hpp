// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/results/disagreement.hpp"

#include <optional>
#include <string>
#include <tna/fastpath.h>
#include <vector>

namespace tna::deploy {

/// What the self-check has come to, as the kernel's side keeps it: for another fast path to begin with.
struct Mistrust {
    unsigned modules = 0; ///< TNA_CHECKED_*: those that it has paused
    tna_disagreement found{};
};

/// What a fast path has found by deciding packets twice (fpm/base/self_check.bpf.h). It pauses modules that
/// it does not believe any more.
class SelfCheck {
public:
    SelfCheck() = default;
    virtual ~SelfCheck() = default;
    SelfCheck(const SelfCheck&) = delete;
    SelfCheck& operator=(const SelfCheck&) = delete;

    /// Why modules are paused.
    [[nodiscard]] virtual std::optional<Disagreement> disagreement() const = 0;
    /// The modules that are.
    [[nodiscard]] virtual std::vector<std::string> mistrusted() const = 0;
    /// All are believed again; or those not that another fast path did not believe.
    virtual void trust() const = 0;
    [[nodiscard]] virtual Mistrust mistrust() const = 0;
    virtual void mistrustAs(const Mistrust& other) const = 0;
};

} // namespace tna::deploy
