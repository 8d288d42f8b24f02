// SPDX-License-Identifier: Apache-2.0
#include "assemble/rules/expression.hpp"

#include <algorithm>
#include <cstring>
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

/// Of a flow, but not known. Whole words, because what is left of the last one may be anything.
Step storingUnknown(Registers& registers, const RuleExpression& expression, std::size_t size,
                    Step step = Step::flow(Answer::yes)) {
    const auto words = (size + NFT_REG32_SIZE - 1) / NFT_REG32_SIZE;
    return storing(registers, expression, {Bits::unknown(words * NFT_REG32_SIZE), std::move(step)});
}

Step setMeta(const RuleExpression& expression, const AbstractPacket& packet) {
    if (expression.key == NFT_META_MARK && packet.bridged)
        return Step::never("it marks packets, which is not done to those that are fast");
    if (expression.key == NFT_META_MARK) {
        auto step = Step::flow(Answer::yes);
        step.alters = true;
        return step;
    }
    return Step::never(expression.key == NFT_META_NFTRACE ? "it has the packet traced"
                                                          : "it changes what belongs to the packet");
}

Step setCt(const RuleExpression& expression, const Registers& registers, const AbstractPacket& packet) {
    if (packet.exempt && expression.key != NFT_CT_ZONE) // there is no connection (nft_ct_set_eval)
        return Step::flow(Answer::yes);
    // Anything else than a constant could depend on the mark that was there.
    const auto bits = registers.load(expression.source, sizeof(std::uint32_t));
    if (expression.key == NFT_CT_MARK && bits.allKnown()) {
        auto step = Step::flow(Answer::yes);
        step.connectionMark = MarkSetting{.value = 0, .mask = ~0U};
        std::memcpy(&step.connectionMark->value, bits.value.data(), sizeof(std::uint32_t));
        return step;
    }
    if (expression.key == NFT_CT_ZONE) { // before there is a connection
        auto step = Step::flow(Answer::yes);
        step.rezones = true;
        return step;
    }
    return Step::never(expression.key == NFT_CT_MARK
                           ? "it changes the connection's mark to something that is not constant"
                           : "it changes the connection");
}

/// Elements that do more than be found.
bool hasLimits(const NamedSet& set) {
    return set.elements.expressions ||
           std::ranges::any_of(set.expressions, [](const auto& kind) { return kind != "counter"; });
}

/// Why what is found in a set may differ between packets of a flow, by what is known of the set itself.
std::string obstacleIn(const NamedSet& set) {
    if ((set.flags & NFT_SET_TIMEOUT) != 0)
        return fmt::format("elements of {} come and go by the clock", set.name);
    if ((set.flags & NFT_SET_EVAL) != 0)
        return fmt::format("packets change {}", set.name);
    if (hasLimits(set))
        return fmt::format("elements of {} have limits of their own", set.name);
    if (!set.elements.complete)
        return fmt::format("not all elements of {} could be read", set.name);
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
    // Before 6.12.46 what stands for all others was looked for where the rest was found, too
    // (nft_lookup_eval).
    const bool others =
        std::ranges::any_of(set->elements.list, [](const auto& one) { return one.key.empty(); });
    if ((expression.operation & NFT_LOOKUP_F_INV) != 0)
        step.answer = others ? Answer::maybe : opposite(step.answer);
    return step;
}

/// Whoever is in the set now is not in it later, and nobody else comes: of packets that pass because they are
/// not in it, all do.
Step fading(std::string obstacle) {
    auto step = Step::differs(std::move(obstacle));
    step.fades = true;
    return step;
}

bool fades(const RuleExpression& expression, const NamedSet* set, const Surroundings& surroundings) {
    return expression.kind == "lookup" && !expression.writes &&
           (expression.operation & NFT_LOOKUP_F_INV) == 0 && set != nullptr && surroundings.onlyFades(*set);
}

Step object(std::uint32_t type) {
    // Helpers and timeouts are for connections that begin (nft_ct_helper_obj_eval, nft_ct_timeout_obj_eval).
    if (type == NFT_OBJECT_COUNTER || type == NFT_OBJECT_CT_HELPER || type == NFT_OBJECT_CT_TIMEOUT)
        return Step::flow(Answer::yes);
    return Step::never(type == NFT_OBJECT_LIMIT || type == NFT_OBJECT_QUOTA || type == NFT_OBJECT_CONNLIMIT
                           ? "how much has passed decides"
                           : "the object that it uses does more than decide");
}

/// Of routes; where there is none, the rule ends. What a path can carry comes and goes by the clock.
Step route(const RuleExpression& expression) {
    if (expression.key == NFT_RT_NEXTHOP4 || expression.key == NFT_RT_NEXTHOP6 ||
        expression.key == NFT_RT_XFRM)
        return Step::key({"routes"});
    return Step::never("it looks at what is not known to stay the same for a flow");
}

/// nft_fib4_eval_type asks by addresses only. A device that gets another name has its routes as before.
Step fib(const RuleExpression& expression, const AbstractPacket& packet) {
    if (expression.key == NFT_FIB_RESULT_OIFNAME)
        return Step::never("it looks at the name of a device by which the packet may neither come nor leave");
    if (!packet.ipv6 && expression.key == NFT_FIB_RESULT_ADDRTYPE)
        return Step::key({"routes"});
    return Step::key(routesLookAt(packet));
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
    if (expression.operation != NFT_BITWISE_BOOL)
        return storingUnknown(registers, expression, size);
    const auto bits = registers.load(expression.source, size);
    const auto result = masked(bits, expression.data, expression.second);
    registers.store(expression.destination, result);
    auto step = Step::flow(Answer::yes);
    step.settles = expression.source == expression.destination && result.allKnown();
    return step;
}

/// Where it is certain that the rule ends, what is left of the register is of no weight either.
Step compared(const RuleExpression& expression, const Registers& registers) {
    auto step = Step::flow(compare(registers.load(expression.source, expression.data.size()),
                                   expression.operation, expression.data));
    step.settles = step.answer == Answer::no;
    return step;
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
        return Step::differs(kind == "last" ? "it notes the time of each packet"
                                            : "how much has passed decides");
    if (kind == "log")
        return Step::differs("it tells about each packet", Answer::yes);
    if (kind == "numgen")
        return Step::differs("chance, or a number that counts on, decides");
    if (kind == "dynset")
        return Step::differs("packets change a set");
    if (kind == "flow_offload")
        return Step::never("it hands flows to a flowtable of Linux");
    if (kind == "queue")
        return Step::never("a program decides");
    return Step::never(fmt::format("'{}' is not known to treat all packets of a flow alike", kind));
}
} // namespace

std::vector<std::string_view> routesLookAt(const AbstractPacket& packet) {
    return {"routes", packet.ipv6 ? "traffic class and flow label" : "DSCP and ECN"};
}

Surroundings::Surroundings(const model::RuleSet& set) {
    for (const auto& one : set.sets)
        sets_.emplace(Place{one.family, one.table, one.name}, &one);
    // The kernel lets packets change sets, too, that are not flagged for it (nft_dynset_init). They need not
    // be packets that are forwarded.
    for (const auto& chain : set.chains)
        for (const auto& rule : chain.rules)
            for (const auto& expression : rule.expressions)
                if (expression.kind == "dynset")
                    changed_.emplace(chain.family, chain.table,
                                     expression.understood ? expression.name : std::string{});
}

std::string Surroundings::obstacleOf(model::RuleFamily family, const std::string& table,
                                     const std::string& name, const NamedSet*& found) const {
    const auto place = sets_.find({family, table, name});
    if (place == sets_.end() || !place->second->understood)
        return "the set that it looks into is not understood";
    found = place->second;
    auto obstacle = obstacleIn(*found);
    if (obstacle.empty() && changedByPackets(*found))
        return fmt::format("packets change {}", name);
    return obstacle;
}

bool Surroundings::changedByPackets(const NamedSet& set) const {
    return changed_.contains({set.family, set.table, set.name}) ||
           changed_.contains({set.family, set.table, {}});
}

bool Surroundings::onlyFades(const NamedSet& set) const {
    return set.onlyTimes() && set.elements.complete && !hasLimits(set) && !changedByPackets(set);
}

Step evaluate(const RuleExpression& expression, const AbstractPacket& packet, Registers& registers,
              const Surroundings& surroundings, model::RuleFamily family, const std::string& table) {
    const auto& kind = expression.kind;
    if (!expression.understood) {
        registers = {}; // it may have written there
        return Step::never(fmt::format("'{}' is not understood: it may be newer than tnad", kind));
    }
    if (kind == "immediate")
        return immediate(expression, registers);
    if (kind == "cmp")
        return compared(expression, registers);
    if (kind == "range")
        return range(expression, registers);
    if (kind == "bitwise")
        return bitwise(expression, registers);
    if (kind == "byteorder")
        return storingUnknown(registers, expression,
                              std::min<std::size_t>(expression.length, wholeRegisters));
    if (kind == "payload" || kind == "exthdr")
        return expression.writes ? Step::never("it rewrites the packet")
                                 : storing(registers, expression,
                                           kind == "payload" ? loadPayload(expression, packet)
                                                             : loadHeader(expression, packet));
    if (kind == "meta")
        return expression.writes ? setMeta(expression, packet)
                                 : storing(registers, expression, loadMeta(expression, packet));
    if (kind == "ct")
        return expression.writes ? setCt(expression, registers, packet)
                                 : storing(registers, expression, loadCt(expression, packet));
    if (kind == "rt" || kind == "fib")
        return storingUnknown(registers, expression, NFT_REG_SIZE,
                              kind == "rt" ? route(expression) : fib(expression, packet));
    if (kind == "hash")
        return storingUnknown(registers, expression, sizeof(std::uint32_t));
    if (kind == "objref" && !expression.writes)
        return object(expression.operation);
    if (kind == "lookup" || kind == "objref") {
        const NamedSet* set = nullptr;
        if (auto obstacle = surroundings.obstacleOf(family, table, expression.name, set); !obstacle.empty()) {
            registers = {};
            return fades(expression, set, surroundings) ? fading(std::move(obstacle))
                                                        : Step::never(std::move(obstacle));
        }
        if (kind == "lookup")
            return lookup(expression, registers, set);
        auto step = object(set->objectType);
        step.answer = Answer::maybe;
        return step;
    }
    if (kind == "flow_offload" && packet.exempt) // flows are of connections (nft_flow_offload_eval)
        return Step::flow(Answer::no);
    if (packet.bridged && (kind == "match" || kind == "target"))
        return evaluateOfBridge(expression);
    if (packet.bridged && kind == "notrack")
        return Step::never("it exempts packets from connection tracking");
    if (kind == "match") {
        auto step = evaluateMatch(expression, packet);
        step.lets |= packet.invalid && expression.name == "recent";
        return step;
    }
    if (kind != "target")
        registers = {}; // some load something (numgen, socket, ...)
    auto step = kind == "target" ? evaluateTarget(expression, packet) : byName(kind);
    // It is dropped, but answered as well, or its sender is remembered.
    if (packet.invalid && (kind == "reject" || expression.name == "REJECT" || kind == "dynset"))
        step.lets = true;
    return step;
}

} // namespace tna::assemble::rules
