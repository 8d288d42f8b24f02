// SPDX-License-Identifier: Apache-2.0
#include "introspect/rule_reader.hpp"

#include "introspect/decode_rule_set.hpp"
#include "introspect/hook_functions.hpp"
#include "introspect/rule_commit.hpp"
#include "netlink/socket.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <map>
#include <sys/socket.h>
#include <tuple>
#include <unistd.h>

namespace tna::introspect {

namespace {

constexpr int tableMessage(int type) {
    return NFNL_SUBSYS_NFTABLES << 8 | type;
}

/// Reads once; the generation is for the caller to compare.
class Reading {
public:
    Reading(netlink::Socket& socket, const RuleLimits& limits) : socket_(socket), limits_(limits) {}

    [[nodiscard]] Result<std::uint32_t> generation() {
        netlink::Request request(tableMessage(NFT_MSG_GETGEN), 0, nfgenmsg{AF_UNSPEC, NFNETLINK_V0, 0});
        std::optional<std::uint32_t> found;
        const auto outcome = socket_.exchange(
            request, [&](const netlink::Message& message) { found = decodeGeneration(message); });
        if (outcome.error != 0 || !found)
            return failErrno(outcome.error != 0 ? outcome.error : EBADMSG,
                             "cannot read the generation of the nf_tables rule sets");
        return *found;
    }

    [[nodiscard]] Result<void> all() {
        if (auto done = list(NFT_MSG_GETTABLE, decodeTable, set_.tables, limits_.sets); !done)
            return done;
        if (auto done = list(NFT_MSG_GETCHAIN, decodeRuleChain, set_.chains, limits_.rules); !done)
            return done;
        if (auto done = rules(); !done)
            return done;
        if (auto done = list(NFT_MSG_GETSET, decodeSet, set_.sets, limits_.sets); !done)
            return done;
        if (auto done = list(NFT_MSG_GETOBJ, decodeObject, set_.objects, limits_.sets); !done)
            return done;
        if (auto done = list(NFT_MSG_GETFLOWTABLE, decodeRuleFlowtable, set_.flowtables, limits_.sets); !done)
            return done;
        return elements();
    }

    /// Not of a generation, and not in every kernel.
    void functions() { set_.functions = readHookFunctions(socket_); }

    [[nodiscard]] model::RuleSet take() { return std::move(set_); }

private:
    /// Hands over each message of a dump; stops it where `take` fails.
    template <typename Take>
    [[nodiscard]] Result<void> dump(netlink::Request& request, const char* what, Take&& take) {
        Result<void> result;
        const auto outcome = socket_.exchangeUntil(request, [&](const netlink::Message& message) {
            result = take(message);
            return result.has_value();
        });
        if (!result)
            return result;
        if (outcome.error == 0 && outcome.interrupted)
            return failErrno(EINTR, "the {} changed while they were read", what);
        if (outcome.error != 0)
            return failErrno(outcome.error, "cannot read the {} of nf_tables", what);
        return {};
    }

    template <typename Decode, typename Item>
    [[nodiscard]] Result<void> list(int type, Decode decode, std::vector<Item>& items, std::size_t most) {
        netlink::Request request(tableMessage(type), NLM_F_DUMP, nfgenmsg{AF_UNSPEC, NFNETLINK_V0, 0});
        return dump(request, "rule sets", [&](const netlink::Message& message) -> Result<void> {
            auto item = decode(message);
            if (!item)
                return fail("a message about the rule sets cannot be understood");
            if (items.size() >= most)
                return tooMany("tables, chains or sets", most);
            items.push_back(std::move(*item));
            return {};
        });
    }

    [[nodiscard]] static Result<void> tooMany(const char* what, std::size_t most) {
        return std::unexpected(Error{
            fmt::format("there are more than {} {}", most, what), {}, "tnad judges smaller rule sets only"});
    }

    using Place = std::tuple<model::RuleFamily, std::string, std::string>;

    [[nodiscard]] Result<void> rules() {
        std::map<Place, std::size_t> places;
        for (std::size_t i = 0; i < set_.chains.size(); ++i)
            places.emplace(Place{set_.chains[i].family, set_.chains[i].table, set_.chains[i].name}, i);
        std::size_t count = 0;
        std::size_t expressions = 0;
        netlink::Request request(tableMessage(NFT_MSG_GETRULE), NLM_F_DUMP,
                                 nfgenmsg{AF_UNSPEC, NFNETLINK_V0, 0});
        return dump(request, "rules", [&](const netlink::Message& message) -> Result<void> {
            auto placed = decodeFilterRule(message);
            if (!placed)
                return fail("a rule cannot be understood");
            expressions += placed->rule.expressions.size();
            if (++count > limits_.rules)
                return tooMany("rules", limits_.rules);
            if (expressions > limits_.expressions)
                return tooMany("expressions in rules", limits_.expressions);
            const auto place = places.find({placed->family, placed->table, placed->chain});
            if (place == places.end())
                return failErrno(EINTR, "the rules changed while they were read");
            set_.chains[place->second].rules.push_back(std::move(placed->rule));
            return {};
        });
    }

    /// Of sets that rules look into, and that change with the generation, or lose elements by the clock.
    [[nodiscard]] Result<void> elements() {
        std::set<Place> wanted;
        for (const auto& chain : set_.chains)
            for (const auto& rule : chain.rules)
                for (const auto& expression : rule.expressions)
                    if (expression.kind == "lookup" || (expression.kind == "objref" && expression.writes))
                        wanted.emplace(chain.family, chain.table, expression.name);
        for (auto& set : set_.sets)
            if (wanted.contains({set.family, set.table, set.name}) &&
                (set.onlyTimes() || (set.flags & (NFT_SET_TIMEOUT | NFT_SET_EVAL)) == 0))
                if (auto done = elementsOf(set); !done)
                    return done;
        return {};
    }

    [[nodiscard]] Result<void> elementsOf(model::NamedSet& set) {
        netlink::Request request(tableMessage(NFT_MSG_GETSETELEM), NLM_F_DUMP,
                                 nfgenmsg{static_cast<std::uint8_t>(set.family), NFNETLINK_V0, 0});
        request.put(NFTA_SET_ELEM_LIST_TABLE, set.table.c_str());
        request.put(NFTA_SET_ELEM_LIST_SET, set.name.c_str());
        const bool keep = (set.flags & NFT_SET_ANONYMOUS) != 0 || set.dataType == NFT_DATA_VERDICT;
        const bool timed = (set.flags & NFT_SET_TIMEOUT) != 0;
        const auto read = dump(request, "elements", [&](const netlink::Message& message) -> Result<void> {
            const auto before = set.elements.list.size();
            const auto count = decodeElements(message, keep, set.elements, timed);
            if (!count)
                return fail("elements of a set cannot be understood");
            elements_ += *count;
            kept_ += set.elements.list.size() - before;
            if (elements_ > limits_.elements || kept_ > limits_.keptElements)
                return tooMany("elements in sets", std::min(limits_.elements, limits_.keptElements));
            return {};
        });
        set.elements.complete = read.has_value();
        return read;
    }

    netlink::Socket& socket_;
    const RuleLimits& limits_;
    model::RuleSet set_;
    std::size_t elements_ = 0;
    std::size_t kept_ = 0;
};

bool isWithoutTables(int error) {
    // nfnetlink without nf_tables, or no nfnetlink at all: then there are no such rules.
    return error == EINVAL || error == EOPNOTSUPP || error == EPROTONOSUPPORT;
}
} // namespace

Result<model::RuleSet> readRuleSet(const RuleLimits& limits, const std::function<void()>& betweenReads) {
    auto socket = netlink::Socket::open(NETLINK_NETFILTER);
    if (!socket)
        return isWithoutTables(socket.error().number) ? Result<model::RuleSet>{}
                                                      : std::unexpected(socket.error());
    for (int attempt = 0; attempt < limits.attempts; ++attempt) {
        Reading reading(*socket, limits);
        const auto before = reading.generation();
        const bool empty = !before && isWithoutTables(before.error().number);
        if (!before && !empty)
            return std::unexpected(before.error());
        // Half of a change would be read otherwise: policies, dormant tables and elements of sets come later
        // than the generation that they are of (nf_tables_commit).
        if (const auto inEffect = empty ? Result<bool>{true} : waitForRules(*before); !inEffect)
            return std::unexpected(inEffect.error());
        const auto read = empty ? Result<void>{} : reading.all();
        if (betweenReads)
            betweenReads();
        if (!read && read.error().number != EINTR && read.error().number != ENOENT)
            return std::unexpected(read.error());
        reading.functions();
        const auto after = empty ? before : reading.generation();
        if (read && (empty || (after && *after == *before))) {
            auto set = reading.take();
            set.generation = before.value_or(0);
            set.ipset = ::access("/sys/module/ip_set", F_OK) == 0;
            return set;
        }
    }
    return std::unexpected(Error{"the rule sets changed while they were read, each time",
                                 {},
                                 "ask again when they have come to rest",
                                 ExitCode::failure,
                                 EINTR});
}

} // namespace tna::introspect
