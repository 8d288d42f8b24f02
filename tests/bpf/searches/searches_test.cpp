// SPDX-License-Identifier: Apache-2.0
// The fast path's searches in lists that are as long as they may be, one longer, and much longer: what was
// not reached is in doubt, and not "not there". The kernel's own lists seldom grow so long, so these are made
// here.
#include "searches.hpp"

#include "support/command.hpp"
#include "support/namespace.hpp"

#include <functional>

namespace tna::test {
namespace {

/// One row for each bound.
struct Bound {
    const char* name;
    unsigned turns; ///< that a search makes at most
    /// What is wanted is the n-th that a search comes to.
    std::function<Question(Searches&, unsigned n)> make;
};
void PrintTo(const Bound& bound, std::ostream* out) {
    *out << bound.name;
}

std::uint64_t trie(Searches& searches, std::uint64_t first) {
    const auto table = searches.take(), root = searches.take();
    searches.put(table, FIB_TABLE_DATA, root);
    searches.put(root, FIB_NODE_CHILDREN, first);
    return table;
}

std::uint64_t leafOf(Searches& searches, std::uint64_t alias) {
    const auto leaf = searches.take();
    searches.put(leaf, FIB_NODE_CHILDREN, searches.inside(alias, FIB_ALIAS_LIST));
    return leaf;
}

/// Routes for one address each, all of address 0, and behind them one for all.
Question routesOfALeaf(Searches& searches, unsigned n) {
    const auto wanted = searches.take(128);
    searches.put(wanted, FIB_ALIAS_SLEN, std::uint8_t{32});
    auto next = wanted;
    while (--n > 0) {
        const auto alias = searches.take(128);
        searches.put(alias, FIB_ALIAS_LIST, searches.inside(next, FIB_ALIAS_LIST));
        next = alias;
    }
    return {KIND_FIB, trie(searches, leafOf(searches, next)), wanted};
}

/// Nodes below each other, as no table could have so many, and a leaf with a route.
Question nodesOfATrie(Searches& searches, unsigned n) {
    const auto wanted = searches.take(128);
    searches.put(wanted, FIB_ALIAS_SLEN, std::uint8_t{32});
    auto below = leafOf(searches, wanted);
    while (--n > 0) {
        const auto node = searches.take();
        searches.put(node, FIB_NODE_POS, std::uint8_t{31});
        searches.put(node, FIB_NODE_BITS, std::uint8_t{1});
        searches.put(node, FIB_NODE_CHILDREN, below);
        below = node;
    }
    return {KIND_FIB, trie(searches, below), wanted};
}

/// A hash table of one bucket, which ends as the kernel's do.
std::uint64_t buckets(Searches& searches, std::uint64_t first) {
    const auto table = searches.take(256), bucket = searches.inside(table, RHASH_BUCKETS);
    searches.put(table, RHASH_SIZE, 1U);
    searches.put(bucket, first == 0 ? bucket | 1U : first);
    return table;
}
std::uint64_t chainEnd(Searches& searches, std::uint64_t table) {
    return searches.inside(table, RHASH_BUCKETS) | 1U;
}

Question entriesOfAHashChain(Searches& searches, unsigned n) {
    const auto table = searches.take(), only = buckets(searches, 0);
    searches.put(table, RHASH_TABLE, only);
    auto next = chainEnd(searches, only);
    std::uint64_t wanted = 0;
    for (unsigned i = n; i > 0; i--) {
        const auto node = searches.take();
        searches.put(node, next);
        searches.put(node + 8, i == n ? key : key + i);
        wanted = i == n ? node : wanted;
        next = node;
    }
    searches.put(searches.inside(only, RHASH_BUCKETS), next);
    return {KIND_RHASH, table, wanted};
}

Question hashTablesInTheMaking(Searches& searches, unsigned n) {
    const auto table = searches.take(), wanted = searches.take();
    auto last = buckets(searches, wanted);
    searches.put(wanted, chainEnd(searches, last));
    searches.put(wanted + 8, key);
    while (--n > 0) {
        const auto before = buckets(searches, 0);
        searches.put(before, RHASH_FUTURE, last);
        last = before;
    }
    searches.put(table, RHASH_TABLE, last);
    return {KIND_RHASH, table, wanted};
}

Question neighbours(Searches& searches, unsigned n, kind what, place parameters) {
    const auto device = searches.take(8192), settings = searches.take(1024),
               parametersOf = searches.take(256), table = searches.take(1024), hash = searches.take(),
               heads = searches.take(256);
    if (what == KIND_NEIGHBOUR)
        searches.put(device, DEVICE_INET, settings);
    searches.put(what == KIND_NEIGHBOUR ? settings : device, parameters, parametersOf);
    searches.put(parametersOf, PARAMETERS_TABLE, table);
    searches.put(table, NEIGHBOURS_HASH, hash);
    searches.put(hash, HASH_BUCKETS, heads);
    searches.put(hash, HASH_SHIFT, 3U); // its seed is 0: all are in the first bucket
    std::uint64_t next = 0, wanted = 0;
    for (unsigned i = n; i > 0; i--) {
        const auto node = searches.take(1024);
        searches.put(node, next);
        searches.put(node, NEIGHBOUR_DEVICE, device);
        const auto own = i == n ? key : key + i;
        searches.put(searches.inside(node, NEIGHBOUR_KEY), own);
        searches.put(searches.inside(node, NEIGHBOUR_KEY) + 8, own);
        wanted = i == n ? node : wanted;
        next = node;
    }
    searches.put(heads, next);
    return {what, device, wanted};
}

/// One below the other; the topmost has the route, so the way goes down all of them, and up again.
Question nodesOfAnIpv6Trie(Searches& searches, unsigned n) {
    constexpr std::uint16_t root = 2, routes = 4;
    const auto top = searches.take(), route = searches.take(512); // the route is for all: its length is 0
    searches.put(top, FIB6_FLAGS, static_cast<std::uint16_t>(root | routes));
    searches.put(top, FIB6_LEAF, route);
    auto above = top;
    while (--n > 0) {
        const auto node = searches.take();
        searches.put(above, FIB6_LEFT, node);
        searches.put(node, FIB6_PARENT, above);
        above = node;
    }
    return {KIND_FIB6, top, top};
}

Question devicesOfABucket(Searches& searches, unsigned n) {
    const auto net = searches.take(16384), heads = searches.take(2048);
    searches.put(net, NET_DEVICES, heads);
    std::uint64_t next = 0, wanted = 0;
    for (unsigned i = n; i > 0; i--) {
        const auto device = searches.take(4096);
        searches.put(device, DEVICE_INDEX_LINK, next);
        searches.put(device, DEVICE_INDEX, static_cast<std::uint32_t>(i == n ? key : key + 256 * i));
        wanted = i == n ? device : wanted;
        next = searches.inside(device, DEVICE_INDEX_LINK);
    }
    searches.put(heads + 8 * key, next);
    return {KIND_DEVICE, net, wanted};
}

Question tablesOfAPlace(Searches& searches, unsigned n) {
    const auto places = searches.take(2048);
    std::uint64_t next = 0, wanted = 0;
    for (unsigned i = n; i > 0; i--) {
        const auto table = searches.take(16);
        searches.put(table, next);
        searches.put(table + 8, i == n ? key : key + 256 * i);
        wanted = i == n ? table : wanted;
        next = table;
    }
    searches.put(places + 8 * key, next);
    return {KIND_TABLE, places, wanted};
}

/// In a circle with the list's head; the n-th asks for a device by its name.
Question rulesForRouting(Searches& searches, unsigned n) {
    const auto head = searches.take(16);
    auto next = head;
    std::uint64_t wanted = 0;
    for (unsigned i = n; i > 0; i--) {
        const auto rule = searches.take(512);
        searches.put(rule, RULE_LIST, next);
        if (i == n)
            searches.put(rule, RULE_NAME, std::uint64_t{'p'});
        wanted = i == n ? searches.inside(rule, RULE_LIST) : wanted;
        next = searches.inside(rule, RULE_LIST);
    }
    searches.put(head, next);
    return {KIND_NAMES, head, wanted};
}

Question addressesOfADevice(Searches& searches, unsigned n) {
    const auto device = searches.take(4096), settings = searches.take(1024);
    searches.put(device, DEVICE_INET, settings);
    std::uint64_t next = 0, wanted = 0;
    for (unsigned i = n; i > 0; i--) {
        const auto address = searches.take(256);
        searches.put(address, ADDRESS_NEXT, next);
        searches.put(address, ADDRESS_LOCAL, static_cast<std::uint32_t>(i == n ? key : key + i));
        wanted = i == n ? address : wanted;
        next = address;
    }
    searches.put(settings, SETTINGS_ADDRESSES, next);
    return {KIND_ARRIVAL, device, wanted, 0}; // as for an address that is another's
}

/// An entry is its link, and behind that what it is found by.
Question flowsOfAHashChain(Searches& searches, unsigned n) {
    const auto flowtable = searches.take(256), only = buckets(searches, 0);
    searches.put(flowtable, FLOWTABLE_FLOWS, only);
    auto next = chainEnd(searches, only);
    std::uint64_t wanted = 0;
    for (unsigned i = n; i > 0; i--) {
        const auto flow = searches.take(256);
        searches.put(flow, next);
        searches.put(flow + 8, i == n ? key : key + i);
        wanted = i == n ? flow : wanted;
        next = flow;
    }
    searches.put(searches.inside(only, RHASH_BUCKETS), next);
    return {KIND_FLOW, flowtable, wanted};
}

class EachSearch : public ::testing::TestWithParam<Bound> {
protected:
    void SetUp() override {
        if (const auto why = cannotUseNamespaces(); !why.empty())
            GTEST_SKIP() << why;
    }
    /// What a search answers where what is wanted is the n-th, and what is right.
    static void expectAt(unsigned n, bool found) {
        const auto searches = Searches::load();
        if (!searches)
            GTEST_SKIP() << "this kernel cannot be read in place";
        const auto question = GetParam().make(*searches, n);
        if (question.what == KIND_FLOW && searches->inside(0, FLOWTABLE_FLOWS) == 0)
            GTEST_SKIP() << "this kernel has no flowtables";
        EXPECT_EQ(searches->ask(question.what, question.where), found ? question.wanted : question.beyond)
            << n;
    }
};

TEST_P(EachSearch, FindsWhatIsFirst) {
    expectAt(1, true);
}
TEST_P(EachSearch, FindsWhatIsAtItsBound) {
    expectAt(GetParam().turns, true);
}
TEST_P(EachSearch, IsInDoubtAboutWhatIsBeyond) {
    expectAt(GetParam().turns + 1, false);
}

const Bound all[] = {
    {"RoutesOfALeaf", 256, routesOfALeaf},
    {"NodesOfATrie", 256, nodesOfATrie},
    {"EntriesOfAHashChain", 24, entriesOfAHashChain},
    {"HashTablesInTheMaking", 2, hashTablesInTheMaking},
    {"Neighbours", 16,
     [](Searches& searches, unsigned n) { return neighbours(searches, n, KIND_NEIGHBOUR, INET_PARAMETERS); }},
    {"NeighboursOfIpv6", 16,
     [](Searches& searches, unsigned n) {
         return neighbours(searches, n, KIND_NEIGHBOUR6, INET6_PARAMETERS);
     }},
    {"NodesOfAnIpv6Trie", 130, nodesOfAnIpv6Trie},
    {"DevicesOfABucket", 64, devicesOfABucket},
    {"TablesOfAPlace", 64, tablesOfAPlace},
    {"RulesForRouting", 128, rulesForRouting},
    {"AddressesOfADevice", 64, addressesOfADevice},
    {"FlowsOfAHashChain", 24, flowsOfAHashChain},
};
INSTANTIATE_TEST_SUITE_P(Bounds, EachSearch, testing::ValuesIn(all),
                         [](const auto& row) { return std::string(row.param.name); });

class OneSearch : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto why = cannotUseNamespaces(); !why.empty())
            GTEST_SKIP() << why;
        searches_ = Searches::load();
        if (!searches_)
            GTEST_SKIP() << "this kernel cannot be read in place";
    }
    std::unique_ptr<Searches> searches_;
};

TEST_F(OneSearch, EndsWithNoneWhereThereIsNone) {
    EXPECT_EQ(searches_->ask(KIND_FIB, trie(*searches_, 0)), 0U);
    const auto table = searches_->take();
    searches_->put(table, RHASH_TABLE, buckets(*searches_, 0));
    EXPECT_EQ(searches_->ask(KIND_RHASH, table), 0U);
    auto question = neighbours(*searches_, 3, KIND_NEIGHBOUR, INET_PARAMETERS);
    EXPECT_EQ(searches_->ask(question.what, question.where, 7), 0U);
    question = routesOfALeaf(*searches_, 2);
    searches_->put(question.wanted, FIB_ALIAS_SLEN, std::uint8_t{0});
    EXPECT_EQ(searches_->ask(question.what, question.where), 0U);
}

/// An entry that was moved to another bucket while it was looked at leads into that one.
TEST_F(OneSearch, IsInDoubtWhereAChainEndsInAnotherBucket) {
    const auto question = entriesOfAHashChain(*searches_, 3);
    searches_->put(question.wanted + 8, key + 100);
    EXPECT_EQ(searches_->ask(question.what, question.where), 0U);
    searches_->put(question.wanted, chainEnd(*searches_, buckets(*searches_, 0)));
    EXPECT_EQ(searches_->ask(question.what, question.where), doubt);
}

/// Tables that the kernel had no memory in one piece for.
TEST_F(OneSearch, IsInDoubtAboutNestedTables) {
    const auto table = searches_->take(), nested = buckets(*searches_, 0);
    searches_->put(nested, RHASH_NEST, 1U);
    searches_->put(table, RHASH_TABLE, nested);
    EXPECT_EQ(searches_->ask(KIND_RHASH, table), doubt);
}

/// Never an end: as lists may look for a moment that is no moment of theirs.
TEST_F(OneSearch, IsInDoubtAboutWhatGoesInCircles) {
    const auto question = routesOfALeaf(*searches_, 2);
    searches_->put(question.wanted, FIB_ALIAS_SLEN, std::uint8_t{0});
    searches_->put(question.wanted, FIB_ALIAS_LIST, searches_->inside(question.wanted, FIB_ALIAS_LIST));
    EXPECT_EQ(searches_->ask(question.what, question.where), doubt);
    const auto node = searches_->take();
    searches_->put(node, FIB6_LEFT, node);
    EXPECT_EQ(searches_->ask(KIND_FIB6, node), doubt);
}

/// A node whose children are told apart by all bits of an address.
TEST_F(OneSearch, TakesNodesOfAllSizes) {
    const auto alias = searches_->take(128), node = searches_->take(1024);
    searches_->put(alias, FIB_ALIAS_SLEN, std::uint8_t{32});
    searches_->put(node, FIB_NODE_BITS, std::uint8_t{32});
    searches_->put(searches_->inside(node, FIB_NODE_CHILDREN) + 8 * key, leafOf(*searches_, alias));
    EXPECT_EQ(searches_->ask(KIND_FIB, trie(*searches_, node)), alias);
}

} // namespace
} // namespace tna::test
