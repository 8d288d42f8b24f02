// SPDX-License-Identifier: Apache-2.0
#include "functions/steering_table.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

namespace tna::functions {

unsigned rankOf(unsigned priority) {
    return 65535 - priority;
}

namespace {
using Words = std::array<std::uint64_t, TNA_STEER_WORDS>;

/// The bits of a frame that a rule looks at, and what they are to be.
struct Pattern {
    Words bits{};
    Words value{};

    void want(unsigned word, unsigned shift, std::uint64_t mask, std::uint64_t number) {
        bits.at(word) |= mask << shift;
        value.at(word) |= number << shift;
    }
    void wantPrefix(unsigned word, const Prefix& prefix) {
        std::array<std::uint8_t, 16> mask{};
        for (unsigned bit = 0; bit < prefix.length; bit++)
            mask.at(bit / 8) |= static_cast<std::uint8_t>(0x80U >> bit % 8);
        std::memcpy(&bits.at(word), mask.data(), mask.size());
        std::memcpy(&value.at(word), prefix.bytes.data(), prefix.bytes.size());
        want(TNA_STEER_WHAT, TNA_STEER_VERSION_SHIFT, 0xff, prefix.version);
    }
};

struct Candidate {
    Pattern pattern;
    std::uint32_t rank = 0; ///< the higher one wins
    std::uint16_t rule = 0;
    std::uint8_t function = 0;
    const Declaration* declared = nullptr;
    std::size_t index = 0; ///< of the rule in its declaration
};

std::string nameOf(const Candidate& candidate) {
    return fmt::format("rule {} of '{}'", candidate.index + 1, candidate.declared->name);
}

std::vector<MaskedNumber> partsOf(const std::optional<PortRange>& range) {
    return range ? masksOf(*range) : std::vector<MaskedNumber>{{0, 0}};
}

Pattern patternOf(const Rule& rule) {
    Pattern pattern;
    pattern.want(TNA_STEER_WHERE, 0, 0xffffffff, 0);
    if (rule.vlan)
        pattern.want(TNA_STEER_WHERE, TNA_STEER_VLAN_SHIFT, 0xffff,
                     *rule.vlan == 0 ? 0 : TNA_STEER_TAGGED | *rule.vlan);
    if (rule.etherType)
        pattern.want(TNA_STEER_WHERE, TNA_STEER_TYPE_SHIFT, 0xffff, *rule.etherType);
    if (rule.protocol)
        pattern.want(TNA_STEER_WHAT, TNA_STEER_PROTOCOL_SHIFT, 0xff, *rule.protocol);
    // A frame that is not IP has this for a protocol as well; both versions have the bit 4.
    if (rule.protocol == 0U)
        pattern.want(TNA_STEER_WHAT, TNA_STEER_VERSION_SHIFT, 4, 4);
    if (rule.flagsMask != 0)
        pattern.want(TNA_STEER_WHAT, TNA_STEER_TCP_FLAGS_SHIFT, rule.flagsMask, rule.flags);
    if (rule.fromPort || rule.toPort || rule.flagsMask != 0)
        pattern.want(TNA_STEER_WHAT, 0, TNA_STEER_PORTS_KNOWN, TNA_STEER_PORTS_KNOWN);
    if (rule.from)
        pattern.wantPrefix(TNA_STEER_FROM, *rule.from);
    if (rule.to)
        pattern.wantPrefix(TNA_STEER_TO, *rule.to);
    return pattern;
}

void addCandidates(const Steered& function, std::size_t index, unsigned ifindex,
                   std::vector<Candidate>& candidates) {
    const auto& rule = function.declared->rules[index];
    const auto from = partsOf(rule.fromPort), to = partsOf(rule.toPort);
    Candidate candidate{patternOf(rule),
                        rankOf(rule.priority),
                        static_cast<std::uint16_t>(function.ruleNumbers.at(index)),
                        static_cast<std::uint8_t>(function.number),
                        function.declared,
                        index};
    candidate.pattern.value[TNA_STEER_WHERE] |= ifindex;
    for (const auto& source : from)
        for (const auto& destination : to) {
            auto part = candidate;
            part.pattern.want(TNA_STEER_WHAT, TNA_STEER_FROM_PORT_SHIFT, source.mask, source.value);
            part.pattern.want(TNA_STEER_WHAT, TNA_STEER_TO_PORT_SHIFT, destination.mask, destination.value);
            candidates.push_back(part);
        }
}

Words masked(const Words& value, const Words& bits) {
    Words result{};
    for (std::size_t i = 0; i < result.size(); i++)
        result.at(i) = value.at(i) & bits.at(i);
    return result;
}

/// Who wants the same frames: somebody, and somebody else.
struct Claims {
    const Candidate* first = nullptr;
    const Candidate* other = nullptr; ///< the first one of another function

    void add(const Candidate* candidate) {
        if (first == nullptr)
            first = candidate;
        else if (other == nullptr && candidate->function != first->function)
            other = candidate;
    }
    [[nodiscard]] const Candidate* against(const Candidate* candidate) const {
        return first->function != candidate->function ? first : other;
    }
};

Error wantTheSame(const Candidate* one, const Candidate* other) {
    return {fmt::format("{} and {} want the same frames", nameOf(*one), nameOf(*other)),
            fmt::format("both have the priority {}", 65535 - one->rank),
            "give one of them a lower 'priority', which comes first", ExitCode::usage};
}

/// Frames that two functions are to get, neither of them first.
std::optional<Error> contradiction(const std::vector<const Candidate*>& alike) {
    std::map<Words, std::vector<const Candidate*>> byBits;
    for (const auto* candidate : alike)
        byBits[candidate->pattern.bits].push_back(candidate);
    for (const auto& [one, first] : byBits)
        for (const auto& [other, second] : byBits) {
            if (other < one)
                continue;
            const auto common = masked(one, other);
            std::map<Words, Claims> seen;
            for (const auto* candidate : first)
                seen[masked(candidate->pattern.value, common)].add(candidate);
            for (const auto* candidate : second) {
                const auto it = seen.find(masked(candidate->pattern.value, common));
                if (const auto* against = it == seen.end() ? nullptr : it->second.against(candidate))
                    return wantTheSame(std::min(against, candidate), std::max(against, candidate));
            }
        }
    return std::nullopt;
}

std::optional<Error> anyContradiction(const std::vector<Candidate>& candidates) {
    std::map<std::uint32_t, std::vector<const Candidate*>> byRank;
    for (const auto& candidate : candidates)
        byRank[candidate.rank].push_back(&candidate);
    for (const auto& [rank, alike] : byRank) {
        const auto first = alike.front()->function;
        if (std::ranges::any_of(alike, [&](const auto* other) { return other->function != first; }))
            if (auto found = contradiction(alike))
                return found;
    }
    return std::nullopt;
}

/// The same as hash_of() of fpm/steer/table.bpf.h.
std::uint32_t hashOf(const Words& value, unsigned mask, std::uint64_t factor) {
    constexpr Words factors TNA_STEER_FACTORS;
    std::uint64_t sum = mask;
    for (std::size_t i = 0; i < value.size(); i++)
        sum += value.at(i) * factors.at(i);
    sum ^= sum >> 32U;
    return static_cast<std::uint32_t>(sum * factor >> (64U - TNA_STEER_HOME_BITS));
}

tna_steer_entry entryOf(const Candidate& candidate, unsigned mask) {
    tna_steer_entry entry{};
    std::ranges::copy(candidate.pattern.value, entry.key);
    entry.rank = candidate.rank;
    entry.rule = candidate.rule;
    entry.mask = static_cast<std::uint8_t>(mask);
    entry.function = candidate.function;
    return entry;
}

using Mask = std::pair<Words, std::vector<const Candidate*>>;

/// False: with this factor, too many have one hash.
bool fill(const std::vector<Mask>& masks, tna_steer_table& table, std::vector<tna_steer_entry>& entries) {
    entries.assign(TNA_STEER_ENTRIES, {});
    std::uint32_t free = TNA_STEER_HOMES;
    for (unsigned number = 0; number < masks.size(); number++)
        for (const auto* candidate : masks[number].second) {
            auto at = hashOf(candidate->pattern.value, number, table.factor);
            unsigned length = 1;
            while (entries[at].rank != 0 && entries[at].next != 0) {
                at = entries[at].next;
                length++;
            }
            if (entries[at].rank != 0) {
                if (length >= TNA_STEER_CHAIN || free == TNA_STEER_ENTRIES)
                    return false;
                entries[at].next = free;
                at = free++;
            }
            entries[at] = entryOf(*candidate, number);
            table.mask[number].only = masks[number].second.size() == 1 ? at + 1 : 0;
        }
    return true;
}

/// Of a function's rules for the same frames, the first one, and the first one behind each giver (`behind`:
/// the ranks of their last rules): what these give on is looked up among the rules behind their own.
std::vector<const Candidate*> neededOf(std::vector<const Candidate*> alike,
                                       const std::vector<std::uint32_t>& behind) {
    std::ranges::stable_sort(alike, std::greater{}, &Candidate::rank);
    std::vector<const Candidate*> needed{alike.front()};
    for (const auto* candidate : alike)
        if (std::ranges::any_of(
                behind, [&](auto last) { return candidate->rank < last && last <= needed.back()->rank; }))
            needed.push_back(candidate);
    return needed;
}

/// By what they look at, those with the first rule first. Of several functions for the same frames, each has
/// its own, in their order: frames may go on to the next one.
std::vector<Mask> byMask(const std::vector<Candidate>& candidates, const std::vector<std::uint32_t>& behind) {
    std::map<Words, std::map<Words, std::map<std::uint8_t, std::vector<const Candidate*>>>> found;
    for (const auto& candidate : candidates)
        found[candidate.pattern.bits][candidate.pattern.value][candidate.function].push_back(&candidate);
    std::vector<Mask> masks;
    for (const auto& [bits, entries] : found) {
        auto& ordered = masks.emplace_back(bits, std::vector<const Candidate*>{}).second;
        for (const auto& [value, functions] : entries) {
            const auto first = static_cast<std::ptrdiff_t>(ordered.size());
            for (const auto& [function, alike] : functions)
                for (const auto* candidate : neededOf(alike, behind))
                    ordered.push_back(candidate);
            std::ranges::sort(ordered.begin() + first, ordered.end(), std::greater{}, &Candidate::rank);
        }
    }
    const auto best = [](const Mask& mask) {
        return (*std::ranges::max_element(mask.second, {}, &Candidate::rank))->rank;
    };
    std::ranges::stable_sort(masks, std::greater{}, best);
    return masks;
}

/// Of functions whose frames may go on to others.
std::vector<std::uint32_t> lastRanksOf(std::span<const Steered> functions) {
    std::vector<std::uint32_t> ranks;
    for (const auto& function : functions)
        if (function.declared->givesOn)
            ranks.push_back(rankOf(function.declared->lastPriority()));
    return ranks;
}

Result<std::vector<Candidate>> allCandidates(std::span<const Steered> functions,
                                             const std::map<std::string, unsigned>& ports) {
    std::vector<Candidate> candidates;
    for (const auto& function : functions)
        for (std::size_t index = 0; index < function.declared->rules.size(); index++) {
            const auto& rule = function.declared->rules[index];
            for (const auto& port : rule.ports.empty() ? function.declared->ports : rule.ports)
                if (const auto it = ports.find(port); it != ports.end())
                    addCandidates(function, index, it->second, candidates);
            if (candidates.size() > TNA_STEER_HOMES)
                return std::unexpected(
                    Error{fmt::format("the rules of network functions are too many, from rule {} of '{}' on",
                                      index + 1, function.declared->name),
                          fmt::format("there is room for {}, and a rule takes one for each port by which "
                                      "frames come in, times the parts of its ranges of ports",
                                      TNA_STEER_HOMES),
                          "ranges that begin and end at multiples of powers of two have fewer parts",
                          ExitCode::usage});
        }
    return candidates;
}
} // namespace

Result<SteeringTable> makeTable(std::span<const Steered> functions,
                                const std::map<std::string, unsigned>& ports) {
    const auto candidates = allCandidates(functions, ports);
    if (!candidates)
        return std::unexpected(candidates.error());
    if (auto found = anyContradiction(*candidates))
        return std::unexpected(std::move(*found));
    const auto masks = byMask(*candidates, lastRanksOf(functions));
    if (masks.size() > TNA_STEER_MASKS)
        return std::unexpected(Error{
            fmt::format("the rules of network functions look at frames in {} different ways", masks.size()),
            fmt::format("{} are the most; each combination of conditions is one, with each length of a "
                        "prefix and each size of a part of a range of ports",
                        TNA_STEER_MASKS),
            "use fewer lengths of prefixes, and ranges that begin and end at multiples of powers of two",
            ExitCode::usage});
    SteeringTable table;
    if (masks.empty())
        return table;
    table.masks.masks = static_cast<std::uint32_t>(masks.size());
    for (std::size_t i = 0; i < masks.size(); i++) {
        auto& mask = table.masks.mask[i];
        std::ranges::copy(masks[i].first, mask.bits);
        for (std::size_t word = 0; word < TNA_STEER_WORDS; word++)
            if (TNA_STEER_SECOND(word) && mask.bits[word] != 0)
                mask.wide = 1;
        for (const auto* candidate : masks[i].second)
            mask.best = std::max(mask.best, candidate->rank);
    }
    constexpr unsigned mostFactors = 64;
    std::mt19937_64 random; // the same ones each time
    for (unsigned tried = 0; tried < mostFactors; tried++) {
        table.masks.factor = random() | 1U;
        if (fill(masks, table.masks, table.entries))
            return table;
    }
    return fail("the rules of network functions cannot be put into a table");
}

} // namespace tna::functions
