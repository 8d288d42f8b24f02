// SPDX-License-Identifier: Apache-2.0
#include "assemble/rules/known_mark.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <linux/netfilter/nf_tables.h>
#include <string_view>

namespace tna::assemble::rules {

namespace {
/// Expressions that do not change a packet's mark.
constexpr std::array<std::string_view, 8> harmless{"payload", "ct",    "bitwise", "counter",
                                                   "cmp",     "match", "lookup",  "immediate"};

bool isMark(const model::RuleExpression& expression) {
    return expression.kind == "meta" && expression.key == NFT_META_MARK;
}

std::uint32_t numberOf(const std::vector<std::uint8_t>& bytes) {
    std::uint32_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
}
} // namespace

void KnownMark::pass(const model::RuleExpression& expression, Registers& registers) {
    if (expression.kind == "meta" && !expression.writes) {
        loaded_.reset();
        if (!isMark(expression))
            return;
        loaded_ = expression.destination;
        if (mark_) {
            std::array<std::uint8_t, sizeof(std::uint32_t)> bytes{};
            std::memcpy(bytes.data(), &*mark_, bytes.size());
            registers.store(expression.destination, Bits::of(bytes));
        }
        return;
    }
    if (expression.kind == "cmp" && loaded_ == expression.source && expression.operation == NFT_CMP_EQ &&
        expression.data.size() == sizeof(std::uint32_t)) {
        mark_ = numberOf(expression.data);
        return;
    }
    if (expression.kind != "cmp")
        loaded_.reset();
    if (isMark(expression)) { // it is set
        const auto bits = registers.load(expression.source, sizeof(std::uint32_t));
        mark_ = bits.allKnown() ? std::optional(numberOf(bits.value)) : std::nullopt;
        return;
    }
    if (std::ranges::find(harmless, expression.kind) == harmless.end())
        mark_.reset();
    if (const auto matched = markMatchedBy(expression))
        mark_ = matched;
}

std::optional<MarkSetting> KnownMark::savedBy(const model::RuleExpression& expression) const {
    return mark_ ? markSavedBy(expression, *mark_) : std::nullopt;
}

} // namespace tna::assemble::rules
