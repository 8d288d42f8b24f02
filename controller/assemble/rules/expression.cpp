// SPDX-License-Identifier: Apache-2.0
#include "assemble/rules/expression.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

namespace tna::assemble::rules {

namespace {
using model::NamedSet;
using model::RuleExpression;

constexpr std::size_t wholeRegisters = 64; ///< the most that is stored at once

Step storing(Registers& registers, const RuleExpression& expression, Loaded loaded) {
    registers.store(expression.destination, loaded.bits);
    return std::move(loaded.step);
}

/// Of a flow, but not known.
Step storingUnknown(Registers& registers, const RuleExpression& expression, std::size_t size,
                    Answer answer = Answer::yes) {
    return storing(registers, expression, {Bits::unknown(size), Step::flow(answer)});
}

Step setMeta(const RuleExpression& expression) {
    if (expression.key == NFT_META_MARK)
        return Step::flow(Answer::yes);
    return Step::never(expression.key == NFT_META_NFTRACE ? "it has the packet traced"
                                                          : "it changes what belongs to the packet");
}

Step setCt(const RuleExpression& expression, const Registers& registers) {
    // Anything else than a constant could depend on the mark that was there.
    if (expression.key == NFT_CT_MARK && registers.load(expression.source, sizeof(std::uint32_t)).allKnown())
        return Step::flow(Answer::yes);
    if (expression.key == NFT_CT_ZONE) // before there is a connection
        return Step::flow(Answer::yes);
    return Step::never(expression.key == NFT_CT_MARK
                           ? "it changes the connection's mark to something that is not constant"
                           : "it changes the connection");
}

/// Why what is found in a set may differ between packets of a flow.
std::string obstacleOf(const NamedSet* set) {
    if (set == nullptr || !set->understood)
        return "the set that it looks into is not understood";
    if ((set->flags & NFT_SET_TIMEOUT) != 0)
        return fmt::format("elements of {} come and go by the clock", set->name);
    if ((set->flags & NFT_SET_EVAL) != 0)
        return fmt::format("packets change {}", set->name);
    if (set->elements.expressions ||
        std::ranges::any_of(set->expressions, [](const auto& kind) { return kind != "counter"; }))
        return fmt::format("elements of {} have limits of their own", set->name);
    if (!set->elements.complete)
        return fmt::format("not all elements of {} could be read", set->name);
    return {};
}

/// The elements that a key may find: one, where everything about it is known.
std::vector<const model::SetElement*> candidates(const NamedSet& set, const Registers& registers,
                                                 std::uint32_t source, Answer& found) {
    std::vector<const model::SetElement*> list;
    const model::SetElement* others = nullptr;
    const auto& elements = set.elements.list;
    const auto size = elements.empty() ? 0 : elements.front().key.size();
    const auto key = registers.load(source, size);
    const bool exact = (set.flags & NFT_SET_INTERVAL) == 0 && key.allKnown() && size != 0;
    found = exact ? Answer::no : Answer::maybe;
    for (const auto& element : elements) {
        if (element.key.empty())
            others = &element;
        if (element.intervalEnd || (exact && element.key != key.value))
            continue;
        if (exact)
            found = Answer::yes;
        list.push_back(&element);
    }
    if (others != nullptr && found == Answer::no) {
        found = Answer::yes;
        list.push_back(others);
    }
    return list;
}

Step lookup(const RuleExpression& expression, Registers& registers, const NamedSet* set) {
    if (auto obstacle = obstacleOf(set); !obstacle.empty())
        return Step::never(std::move(obstacle));
    auto step = Step::flow();
    const bool verdicts = expression.writes && expression.destination == NFT_REG_VERDICT;
    const bool anonymous = (set->flags & NFT_SET_ANONYMOUS) != 0;
    if (!verdicts && !anonymous) {
        if (expression.writes)
            registers.store(expression.destination, Bits::unknown(wholeRegisters));
        return step;
    }
    const auto list = candidates(*set, registers, expression.source, step.answer);
    if (verdicts)
        for (const auto* element : list)
            if (element->verdict)
                step.verdicts.push_back(*element->verdict);
            else
                step.obstacle = "a map to verdicts has an element without one";
    else if (expression.writes)
        registers.store(expression.destination, Bits::unknown(wholeRegisters));
    if ((expression.operation & NFT_LOOKUP_F_INV) != 0)
        step.answer = opposite(step.answer);
    return step;
}

Step object(std::uint32_t type) {
    // Helpers and timeouts are for connections that begin (nft_ct_helper_obj_eval, nft_ct_timeout_obj_eval).
    if (type == NFT_OBJECT_COUNTER || type == NFT_OBJECT_CT_HELPER || type == NFT_OBJECT_CT_TIMEOUT)
        return Step::flow(Answer::yes);
    return Step::never(type == NFT_OBJECT_LIMIT || type == NFT_OBJECT_QUOTA || type == NFT_OBJECT_CONNLIMIT
                           ? "how much has passed decides"
                           : "the object that it uses does more than decide");
}

Step immediate(const RuleExpression& expression, Registers& registers) {
    auto step = Step::flow(Answer::yes);
    if (expression.verdict)
        step.verdicts.push_back(*expression.verdict);
    else
        registers.store(expression.destination, Bits::of(expression.data));
    return step;
}

Step bitwise(const RuleExpression& expression, Registers& registers) {
    const auto size = std::min<std::size_t>(expression.length, wholeRegisters);
    const auto bits = registers.load(expression.source, size);
    registers.store(expression.destination, expression.operation == NFT_BITWISE_BOOL
                                                ? masked(bits, expression.data, expression.second)
                                                : Bits::unknown(size));
    return Step::flow(Answer::yes);
}

Step range(const RuleExpression& expression, const Registers& registers) {
    const auto answer =
        within(registers.load(expression.source, expression.data.size()), expression.data, expression.second);
    return Step::flow(expression.operation == NFT_RANGE_NEQ ? opposite(answer) : answer);
}

/// Of kinds that need nothing but their name.
Step byName(const std::string& kind) {
    auto step = Step::flow(Answer::yes);
    if (kind == "counter")
        return step;
    if (kind == "notrack") {
        step.untracks = true;
        return step;
    }
    if (kind == "reject") {
        step.verdicts = {{NF_DROP, {}}};
        return step;
    }
    if (kind == "limit" || kind == "quota" || kind == "connlimit" || kind == "last")
        return Step::never(kind == "last" ? "it notes the time of each packet"
                                          : "how much has passed decides");
    if (kind == "log") {
        step = Step::never("it tells about each packet");
        step.onlyTells = true;
        step.answer = Answer::yes;
        return step;
    }
    if (kind == "numgen")
        return Step::never("chance, or a number that counts on, decides");
    if (kind == "dynset")
        return Step::never("packets change a set");
    if (kind == "flow_offload")
        return Step::never("it hands flows to a flowtable of Linux");
    if (kind == "queue")
        return Step::never("a program decides");
    return Step::never(fmt::format("'{}' is not known to treat all packets of a flow alike", kind));
}
} // namespace

Surroundings::Surroundings(const model::RuleSet& set) {
    for (const auto& one : set.sets)
        sets_.emplace(std::tuple{one.family, one.table, one.name}, &one);
}

const NamedSet* Surroundings::set(model::RuleFamily family, const std::string& table,
                                  const std::string& name) const {
    const auto found = sets_.find({family, table, name});
    return found == sets_.end() ? nullptr : found->second;
}

Step evaluate(const RuleExpression& expression, const AbstractPacket& packet, Registers& registers,
              const Surroundings& surroundings, model::RuleFamily family, const std::string& table) {
    const auto& kind = expression.kind;
    if (!expression.understood)
        return Step::never(fmt::format("'{}' is not understood: it may be newer than tnad", kind));
    if (kind == "immediate")
        return immediate(expression, registers);
    if (kind == "cmp")
        return Step::flow(compare(registers.load(expression.source, expression.data.size()),
                                  expression.operation, expression.data));
    if (kind == "range")
        return range(expression, registers);
    if (kind == "bitwise")
        return bitwise(expression, registers);
    if (kind == "byteorder")
        return storingUnknown(registers, expression,
                              std::min<std::size_t>(expression.length, wholeRegisters));
    if (kind == "payload")
        return expression.writes ? Step::never("it rewrites the packet")
                                 : storing(registers, expression, loadPayload(expression, packet));
    if (kind == "meta")
        return expression.writes ? setMeta(expression)
                                 : storing(registers, expression, loadMeta(expression, packet));
    if (kind == "ct")
        return expression.writes ? setCt(expression, registers)
                                 : storing(registers, expression, loadCt(expression, packet));
    if (kind == "rt" && expression.key == NFT_RT_CLASSID)
        return Step::never("it looks at what is not known to stay the same for a flow");
    // Of routes; where there is none, the rule ends.
    if (kind == "rt" || kind == "fib")
        return storingUnknown(registers, expression, NFT_REG_SIZE, Answer::maybe);
    if (kind == "hash")
        return storingUnknown(registers, expression, sizeof(std::uint32_t));
    if (kind == "lookup")
        return lookup(expression, registers, surroundings.set(family, table, expression.name));
    if (kind == "objref") {
        if (!expression.writes)
            return object(expression.operation);
        const auto* set = surroundings.set(family, table, expression.name);
        auto obstacle = obstacleOf(set);
        auto step = obstacle.empty() ? object(set->objectType) : Step::never(std::move(obstacle));
        step.answer = Answer::maybe;
        return step;
    }
    if (kind == "match")
        return evaluateMatch(expression, packet);
    return kind == "target" ? evaluateTarget(expression) : byName(kind);
}

} // namespace tna::assemble::rules
