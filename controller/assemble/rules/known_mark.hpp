// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/rules/expression.hpp"

#include <cstdint>
#include <optional>

namespace tna::assemble::rules {

/// The mark of those packets that a rule still means, once it has asked for one, or has set one: what it
/// saves of it as the connection's mark is constant then.
class KnownMark {
public:
    /// Behind an expression that packets have passed, whose registers are these.
    void pass(const model::RuleExpression& expression, Registers& registers);
    /// The constant that an expression of iptables saves.
    [[nodiscard]] std::optional<MarkSetting> savedBy(const model::RuleExpression& expression) const;

private:
    std::optional<std::uint32_t> loaded_; ///< the register that has it, as it is
    std::optional<std::uint32_t> mark_;
};

} // namespace tna::assemble::rules
