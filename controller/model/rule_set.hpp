// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <linux/netfilter/nf_tables.h>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// The rule sets of nftables as they were read; iptables-nft makes the same, with expressions "match" and
/// "target".
namespace tna::model {

/// The values of the kernel's NFPROTO_*.
enum class RuleFamily : std::uint8_t {
    unspecified = 0,
    inet = 1,
    ip = 2,
    arp = 3,
    netdev = 5,
    bridge = 7,
    ip6 = 10
};

struct RuleVerdict {
    std::int32_t code = 0; ///< NF_DROP, NF_ACCEPT, NFT_JUMP, ...; NF_QUEUE has its queue in the upper half
    std::string chain;     ///< of jumps and gotos
    bool operator==(const RuleVerdict&) const = default;
};

/// One expression of a rule. What a field means depends on the kind; those that it has no use for are empty.
struct RuleExpression {
    std::string kind;              ///< as the kernel calls it: "payload", "cmp", "match", ...
    bool understood = true;        ///< nothing is in it that is newer than this decoder, nothing is missing
    bool writes = false;           ///< it changes what it otherwise loads: payload, meta, ct, exthdr
    std::uint32_t source = 0;      ///< register
    std::uint32_t destination = 0; ///< register
    /// Of meta, ct, rt; the base of payload; the revision of match and target; the type of exthdr.
    std::uint32_t key = 0;
    std::uint32_t operation = 0; ///< of cmp, range, bitwise, exthdr; the type of an object; flags of lookup
    std::uint32_t offset = 0;    ///< of payload; flags of exthdr
    std::uint32_t length = 0;
    std::string name;                 ///< of a set, an object, a match, a target
    std::vector<std::uint8_t> data;   ///< compared with, loaded, the mask, the low end, what a match is told
    std::vector<std::uint8_t> second; ///< what a mask is followed by (xor), the high end
    std::optional<RuleVerdict> verdict;
    bool operator==(const RuleExpression&) const = default;
};

struct FilterRule {
    std::uint64_t handle = 0;
    std::vector<RuleExpression> expressions;
    std::string comment;
    bool operator==(const FilterRule&) const = default;
};

struct RuleChain {
    RuleFamily family = RuleFamily::unspecified;
    std::string table;
    std::string name;
    std::uint64_t handle = 0;
    bool base = false;
    std::uint32_t hook = 0; ///< NF_INET_*, of base chains
    std::int32_t priority = 0;
    std::string type;         ///< "filter", "nat", "route"
    std::uint32_t policy = 1; ///< NF_ACCEPT or NF_DROP
    bool understood = true;   ///< nothing is in it that is newer than the decoder
    std::vector<FilterRule> rules;
    bool operator==(const RuleChain&) const = default;
};

struct RuleTable {
    RuleFamily family = RuleFamily::unspecified;
    std::string name;
    std::uint32_t flags = 0; ///< NFT_TABLE_F_DORMANT: its chains are not in use
    bool operator==(const RuleTable&) const = default;
};

struct SetElement {
    std::vector<std::uint8_t> key; ///< empty for what stands for all others
    std::optional<RuleVerdict> verdict;
    bool intervalEnd = false;
    bool operator==(const SetElement&) const = default;
};

struct RuleElements {
    std::vector<SetElement> list; ///< those that a walk needs: of maps with verdicts, and of anonymous sets
    bool complete = false;        ///< all were read; `list` has them if it is to have any
    bool expressions = false;     ///< elements do more than count: limits, quotas, timeouts
    bool operator==(const RuleElements&) const = default;
};

struct NamedSet {
    RuleFamily family = RuleFamily::unspecified;
    std::string table;
    std::string name;
    std::uint32_t flags = 0; ///< NFT_SET_*
    std::uint32_t dataType = 0;
    std::uint32_t objectType = 0;         ///< NFT_OBJECT_*, of maps to objects
    std::vector<std::string> expressions; ///< kinds of those that each element has
    bool understood = true;
    RuleElements elements;
    /// By its flags: the clock takes elements out, packets put none in, and which one a key finds does not
    /// depend on others.
    [[nodiscard]] bool onlyTimes() const {
        constexpr std::uint32_t looked = NFT_SET_TIMEOUT | NFT_SET_INTERVAL | NFT_SET_EVAL | NFT_SET_MAP;
        return (flags & looked) == NFT_SET_TIMEOUT;
    }
    bool operator==(const NamedSet&) const = default;
};

struct RuleObject {
    RuleFamily family = RuleFamily::unspecified;
    std::string table;
    std::string name;
    std::uint32_t type = 0; ///< NFT_OBJECT_*
    bool operator==(const RuleObject&) const = default;
};

struct RuleFlowtable {
    RuleFamily family = RuleFamily::unspecified;
    std::string table;
    std::string name;
    bool operator==(const RuleFlowtable&) const = default;
};

/// A function that netfilter calls, of whomever it is.
struct HookFunction {
    RuleFamily family = RuleFamily::unspecified;
    std::uint32_t hook = 0;
    std::int32_t priority = 0;
    std::string function; ///< empty where the kernel does not tell
    std::string module;
    bool ofTables = false;     ///< a base chain of nf_tables
    std::uint32_t program = 0; ///< the id of a BPF program
    bool operator==(const HookFunction&) const = default;
};

struct RuleSet {
    std::uint32_t generation = 0; ///< before and after the reading
    std::vector<RuleTable> tables;
    std::vector<RuleChain> chains;
    std::vector<NamedSet> sets;
    std::vector<RuleObject> objects;
    std::vector<RuleFlowtable> flowtables;
    std::set<std::string> legacyTables;                 ///< "ip filter", ...: of iptables-legacy
    bool ipset = false;                                 ///< its kernel module is there
    std::optional<std::vector<HookFunction>> functions; ///< nothing: this kernel does not list them
    bool operator==(const RuleSet&) const = default;
};

} // namespace tna::model
