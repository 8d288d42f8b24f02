// SPDX-License-Identifier: Apache-2.0
#include "assemble/rules/text.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <map>
#include <span>

namespace tna::assemble {

namespace {
using model::RuleExpression;
using Data = std::vector<std::uint8_t>;

constexpr std::array metaKeys{
    "length",  "protocol", "priority",  "mark",     "iif",       "oif",     "iifname", "oifname", "iiftype",
    "oiftype", "skuid",    "skgid",     "nftrace",  "rtclassid", "secmark", "nfproto", "l4proto", "ibrname",
    "obrname", "pkttype",  "cpu",       "iifgroup", "oifgroup",  "cgroup",  "random",  "ipsec",   "iifkind",
    "oifkind", "ibrpvid",  "ibrvproto", "time",     "day",       "hour",    "sdif",    "sdifname"};
constexpr std::array ctKeys{"state",     "direction", "status",   "mark",      "secmark",   "expiration",
                            "helper",    "l3proto",   "saddr",    "daddr",     "protocol",  "proto-src",
                            "proto-dst", "label",     "packets",  "bytes",     "avgpkt",    "zone",
                            "event",     "ip saddr",  "ip daddr", "ip6 saddr", "ip6 daddr", "id"};
constexpr std::array comparisons{"", "!= ", "< ", "<= ", "> ", ">= "};

template <typename Names>
std::string nameIn(const Names& names, std::uint32_t index) {
    return index < names.size() ? names[index] : std::to_string(index);
}

constexpr bool ipv4AndIpv6 = false; // of no weight: not of the network header

/// How the value in a register is written.
enum class Form { hex, number, network, name, address, state };

struct Shown {
    std::string text;
    Form form = Form::hex;
    bool masked = false; ///< and what follows is a comparison with 0
};

std::uint64_t numberOf(const Data& data, bool network) {
    std::uint64_t value = 0;
    if (!network && data.size() == sizeof(std::uint32_t)) {
        std::uint32_t word = 0;
        std::memcpy(&word, data.data(), sizeof word);
        return word;
    }
    for (const auto byte : std::span(data).first(std::min(data.size(), sizeof value)))
        value = value << 8U | byte;
    return value;
}

std::string statesOf(const Data& data) {
    static constexpr std::array names{"invalid", "established", "related", "new"};
    constexpr std::uint64_t untracked = 64;
    const auto mask = numberOf(data, false);
    std::vector<std::string> found;
    for (std::size_t i = 0; i < names.size(); ++i)
        if ((mask >> i & 1U) != 0)
            found.emplace_back(names[i]);
    if ((mask & untracked) != 0)
        found.emplace_back("untracked");
    return fmt::format("{}", fmt::join(found, ","));
}

std::string addressOf(const Data& data) {
    if (data.size() == 16) {
        std::string text;
        for (std::size_t i = 0; i < data.size(); i += 2)
            text += fmt::format("{}{:x}", i == 0 ? "" : ":", data[i] << 8U | data[i + 1]);
        return text;
    }
    return fmt::format("{}", fmt::join(data, "."));
}

std::string written(const Data& data, Form form) {
    switch (form) {
    case Form::name: {
        const std::string text(data.begin(), std::ranges::find(data, 0));
        // Without a zero at its end, it is the beginning of names.
        return fmt::format("\"{}{}\"", text, text.size() == data.size() ? "*" : "");
    }
    case Form::number:
        return std::to_string(numberOf(data, false));
    case Form::network:
        return std::to_string(numberOf(data, true));
    case Form::address:
        return addressOf(data);
    case Form::state:
        return statesOf(data);
    case Form::hex:
        break;
    }
    return fmt::format("0x{:02x}", fmt::join(data, ""));
}

Shown payloadOf(const RuleExpression& one, bool ipv6) {
    struct Field {
        std::uint32_t base, offset, length;
        bool ipv6;
        const char* text;
        Form form;
    };
    static constexpr std::array fields{Field{1, 12, 4, false, "ip saddr", Form::address},
                                       Field{1, 16, 4, false, "ip daddr", Form::address},
                                       Field{1, 9, 1, false, "ip protocol", Form::network},
                                       Field{1, 8, 1, false, "ip ttl", Form::network},
                                       Field{1, 1, 1, false, "ip dscp", Form::hex},
                                       Field{1, 2, 2, false, "ip length", Form::network},
                                       Field{1, 8, 16, true, "ip6 saddr", Form::address},
                                       Field{1, 24, 16, true, "ip6 daddr", Form::address},
                                       Field{1, 6, 1, true, "ip6 nexthdr", Form::network},
                                       Field{1, 7, 1, true, "ip6 hoplimit", Form::network},
                                       Field{2, 0, 2, ipv4AndIpv6, "th sport", Form::network},
                                       Field{2, 2, 2, ipv4AndIpv6, "th dport", Form::network},
                                       Field{2, 13, 1, ipv4AndIpv6, "tcp flags", Form::hex},
                                       Field{0, 0, 6, ipv4AndIpv6, "ether daddr", Form::hex},
                                       Field{0, 6, 6, ipv4AndIpv6, "ether saddr", Form::hex}};
    for (const auto& field : fields)
        if (field.base == one.key && field.offset == one.offset && field.length == one.length &&
            (one.key != NFT_PAYLOAD_NETWORK_HEADER || field.ipv6 == ipv6))
            return {field.text, field.form};
    static constexpr std::array bases{"ll", "nh", "th", "ih"};
    return {fmt::format("@{},{},{}", nameIn(bases, one.key), one.offset * 8, one.length * 8), Form::hex};
}

Shown metaOf(const RuleExpression& one) {
    const auto name = nameIn(metaKeys, one.key);
    const bool bare = name.starts_with("iif") || name.starts_with("oif");
    Form form = Form::number;
    if (name.ends_with("name") || name.ends_with("kind") || name.ends_with("brname"))
        form = Form::name;
    else if (one.key == NFT_META_PROTOCOL)
        form = Form::hex;
    return {bare ? name : "meta " + name, form};
}

Shown headerOf(const RuleExpression& one) {
    struct Header {
        std::uint32_t type;
        const char* text;
    };
    static constexpr std::array extensions{Header{0, "hbh"}, Header{43, "rt"}, Header{44, "frag"},
                                           Header{60, "dst"}, Header{135, "mh"}};
    static constexpr std::array kinds{"exthdr", "tcp option", "ip option"}; // NFT_EXTHDR_OP_*
    const auto found = std::ranges::find(extensions, one.key, &Header::type);
    const bool named = one.operation == NFT_EXTHDR_OP_IPV6 && found != extensions.end();
    return {fmt::format("{} {}", nameIn(kinds, one.operation), named ? found->text : std::to_string(one.key)),
            Form::network};
}

/// Writes one rule; what is in registers is remembered as text.
class Writer {
public:
    explicit Writer(bool ipv6) : ipv6_(ipv6) {}

    void add(const RuleExpression& one) {
        if (one.kind == "payload" || one.kind == "meta" || one.kind == "ct")
            field(one);
        else if (one.kind == "cmp" && in(one.source).masked)
            say((one.operation == NFT_CMP_EQ ? "not " : "") + in(one.source).text);
        else if (one.kind == "cmp")
            say(fmt::format("{} {}{}", in(one.source).text, nameIn(comparisons, one.operation),
                            written(one.data, in(one.source).form)));
        else if (one.kind == "range")
            say(fmt::format("{} {}{}-{}", in(one.source).text, one.operation == NFT_RANGE_NEQ ? "!= " : "",
                            written(one.data, in(one.source).form),
                            written(one.second, in(one.source).form)));
        else if (one.kind == "bitwise")
            bitwise(one);
        else if (one.kind == "immediate")
            immediate(one);
        else if (one.kind == "lookup")
            lookup(one);
        else if (one.kind == "fib" || one.kind == "rt" || one.kind == "hash" || one.kind == "numgen")
            registers_[one.destination] = {one.kind, Form::number};
        else if (one.kind == "exthdr" && !one.writes)
            registers_[one.destination] = headerOf(one);
        else if (one.kind == "match")
            say("xt match " + one.name);
        else if (one.kind == "target")
            say("xt target " + one.name);
        else if (one.kind != "byteorder")
            say(one.name.empty() ? one.kind : one.kind + " " + one.name);
    }
    [[nodiscard]] std::string text() const { return fmt::format("{}", fmt::join(words_, " ")); }

private:
    void say(std::string words) { words_.push_back(std::move(words)); }
    [[nodiscard]] const Shown& in(std::uint32_t name) { return registers_[name]; }

    void field(const RuleExpression& one) {
        Shown shown;
        if (one.kind == "payload")
            shown = payloadOf(one, ipv6_);
        else if (one.kind == "meta")
            shown = metaOf(one);
        else
            shown = {"ct " + nameIn(ctKeys, one.key), one.key == NFT_CT_STATE ? Form::state : Form::number};
        if (one.writes)
            say(fmt::format("{} set {}", shown.text, in(one.source).text));
        else
            registers_[one.destination] = shown;
    }

    /// A mask before a comparison with 0 stands for its bits: `ct state established,related`.
    void bitwise(const RuleExpression& one) {
        auto shown = in(one.source);
        if (one.operation == NFT_BITWISE_BOOL && shown.form == Form::state)
            shown = {shown.text + " " + written(one.data, Form::state), shown.form, true};
        else if (one.operation == NFT_BITWISE_BOOL)
            shown.text += " & " + written(one.data, shown.form == Form::address ? Form::address : Form::hex);
        registers_[one.destination] = shown;
    }

    void immediate(const RuleExpression& one) {
        if (one.verdict)
            say(verdict(*one.verdict));
        else
            registers_[one.destination] = {written(one.data, Form::hex), Form::hex};
    }

    void lookup(const RuleExpression& one) {
        const bool anonymous = one.name.starts_with("__");
        const auto set = anonymous ? "{ ... }" : "@" + one.name;
        const bool verdicts = one.writes && one.destination == NFT_REG_VERDICT;
        auto words = fmt::format("{} {}{}", in(one.source).text,
                                 verdicts                                  ? "vmap "
                                 : (one.operation & NFT_LOOKUP_F_INV) != 0 ? "!= "
                                                                           : "",
                                 set);
        if (one.writes && !verdicts)
            registers_[one.destination] = {words + " map", Form::hex};
        else
            say(std::move(words));
    }

    [[nodiscard]] static std::string verdict(const model::RuleVerdict& verdict) {
        switch (verdict.code) {
        case NF_ACCEPT:
            return "accept";
        case NF_DROP:
            return "drop";
        case NFT_JUMP:
            return "jump " + verdict.chain;
        case NFT_GOTO:
            return "goto " + verdict.chain;
        case NFT_RETURN:
            return "return";
        case NFT_CONTINUE:
            return "continue";
        default:
            return (verdict.code & 0xff) == NF_QUEUE ? "queue" : fmt::format("verdict {}", verdict.code);
        }
    }

    bool ipv6_;
    std::map<std::uint32_t, Shown> registers_;
    std::vector<std::string> words_;
};

/// Whether the network header that it looks into is that of IPv6.
bool isOfIpv6(const model::FilterRule& rule, const model::RuleChain& chain) {
    bool asked = false;
    std::uint32_t asks = 0;
    for (const auto& one : rule.expressions) {
        const bool ofIpv6 = (asks == NFT_META_NFPROTO && one.data == Data{NFPROTO_IPV6}) ||
                            (asks == NFT_META_PROTOCOL && one.data == Data{0x86, 0xdd});
        asked |= one.kind == "cmp" && ofIpv6;
        asks = one.kind == "meta" ? one.key : 0;
    }
    return asked || chain.family == model::RuleFamily::ip6;
}
} // namespace

std::string textOf(const model::FilterRule& rule, const model::RuleChain& chain) {
    Writer writer(isOfIpv6(rule, chain));
    for (const auto& expression : rule.expressions)
        writer.add(expression);
    auto text = writer.text();
    if (!rule.comment.empty())
        text += fmt::format(" comment \"{}\"", rule.comment);
    return text;
}

std::string textOf(model::RuleFamily family) {
    switch (family) {
    case model::RuleFamily::inet:
        return "inet";
    case model::RuleFamily::ip:
        return "ip";
    case model::RuleFamily::ip6:
        return "ip6";
    case model::RuleFamily::arp:
        return "arp";
    case model::RuleFamily::netdev:
        return "netdev";
    case model::RuleFamily::bridge:
        return "bridge";
    case model::RuleFamily::unspecified:
        break;
    }
    return fmt::format("family {}", static_cast<unsigned>(family));
}

std::string hookText(model::RuleFamily family, std::uint32_t hook) {
    static constexpr std::array general{"prerouting", "input", "forward", "output", "postrouting", "ingress"};
    static constexpr std::array devices{"ingress", "egress"};
    return family == model::RuleFamily::netdev ? nameIn(devices, hook) : nameIn(general, hook);
}

} // namespace tna::assemble
