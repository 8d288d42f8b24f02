// SPDX-License-Identifier: Apache-2.0
#include "introspect/decode_expression.hpp"

#include <arpa/inet.h>
#include <array>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nf_tables_compat.h>
#include <string_view>

namespace tna::introspect {

namespace {
using model::RuleExpression;
using netlink::Attributes;

std::vector<std::uint8_t> copyOf(netlink::Bytes bytes) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
    return {begin, begin + bytes.size()};
}

/// The attributes of an expression, taken one after the other; what is missing makes it not understood.
class Taker {
public:
    Taker(const Attributes& attributes, RuleExpression& expression)
        : attributes_(attributes), expression_(expression) {}

    /// Numbers are in network order.
    void number(std::uint16_t type, std::uint32_t& out, bool required = true) {
        const auto value = attributes_.value<std::uint32_t>(type);
        if (value)
            out = ntohl(*value);
        else if (required || attributes_.has(type))
            expression_.understood = false;
    }
    void byte(std::uint16_t type, std::uint32_t& out) {
        const auto value = attributes_.value<std::uint8_t>(type);
        out = value.value_or(0);
        expression_.understood &= value.has_value();
    }
    void name(std::uint16_t type) {
        expression_.name = attributes_.text(type);
        expression_.understood &= !expression_.name.empty();
    }
    /// A value within NFTA_DATA_VALUE.
    void value(std::uint16_t type, std::vector<std::uint8_t>& out) {
        const auto data = attributes_.nested(type);
        const auto bytes = data ? data->find(NFTA_DATA_VALUE) : std::nullopt;
        expression_.understood &= bytes.has_value() && !bytes->empty() && data->within(NFTA_DATA_VALUE);
        if (bytes)
            out = copyOf(*bytes);
    }
    /// Attributes up to this one are known.
    void upTo(std::uint16_t last) { expression_.understood &= attributes_.within(last); }
    /// A number has a meaning that is known.
    void known(bool isKnown) { expression_.understood &= isKnown; }
    [[nodiscard]] bool has(std::uint16_t type) const { return attributes_.has(type); }
    [[nodiscard]] const Attributes& attributes() const { return attributes_; }
    [[nodiscard]] RuleExpression& expression() { return expression_; }

private:
    const Attributes& attributes_;
    RuleExpression& expression_;
};

void takeImmediate(Taker& from, RuleExpression& to) {
    from.upTo(NFTA_IMMEDIATE_DATA);
    from.number(NFTA_IMMEDIATE_DREG, to.destination);
    const auto data = from.attributes().nested(NFTA_IMMEDIATE_DATA);
    if (!data || !data->has(NFTA_DATA_VERDICT))
        return from.value(NFTA_IMMEDIATE_DATA, to.data);
    const auto verdict = data->nested(NFTA_DATA_VERDICT);
    to.verdict = verdict ? decodeVerdict(*verdict) : std::nullopt;
    to.understood &= to.verdict.has_value();
}

void takeCmp(Taker& from, RuleExpression& to) {
    from.upTo(NFTA_CMP_DATA);
    from.number(NFTA_CMP_SREG, to.source);
    from.number(NFTA_CMP_OP, to.operation);
    from.known(to.operation <= NFT_CMP_GTE);
    from.value(NFTA_CMP_DATA, to.data);
}

void takeRange(Taker& from, RuleExpression& to) {
    from.upTo(NFTA_RANGE_TO_DATA);
    from.number(NFTA_RANGE_SREG, to.source);
    from.number(NFTA_RANGE_OP, to.operation);
    from.known(to.operation <= NFT_RANGE_NEQ);
    from.value(NFTA_RANGE_FROM_DATA, to.data);
    from.value(NFTA_RANGE_TO_DATA, to.second);
}

/// Others than mask and xor (shifts, since 5.6; two registers, since 6.13) leave `data` empty.
void takeBitwise(Taker& from, RuleExpression& to) {
    constexpr std::uint16_t secondRegister = NFTA_BITWISE_DATA + 1;
    from.upTo(secondRegister);
    from.number(NFTA_BITWISE_SREG, to.source);
    from.number(NFTA_BITWISE_DREG, to.destination);
    from.number(NFTA_BITWISE_LEN, to.length);
    from.number(NFTA_BITWISE_OP, to.operation, false);
    if (to.operation != NFT_BITWISE_BOOL)
        return;
    from.value(NFTA_BITWISE_MASK, to.data);
    from.value(NFTA_BITWISE_XOR, to.second);
}

void takeByteorder(Taker& from, RuleExpression& to) {
    from.upTo(NFTA_BYTEORDER_SIZE);
    from.number(NFTA_BYTEORDER_SREG, to.source);
    from.number(NFTA_BYTEORDER_DREG, to.destination);
    from.number(NFTA_BYTEORDER_LEN, to.length);
}

void takePayload(Taker& from, RuleExpression& to) {
    from.upTo(NFTA_PAYLOAD_CSUM_FLAGS);
    to.writes = from.has(NFTA_PAYLOAD_SREG);
    from.number(NFTA_PAYLOAD_DREG, to.destination, !to.writes);
    from.number(NFTA_PAYLOAD_SREG, to.source, to.writes);
    from.number(NFTA_PAYLOAD_BASE, to.key);
    from.number(NFTA_PAYLOAD_OFFSET, to.offset);
    from.number(NFTA_PAYLOAD_LEN, to.length);
}

void takeMeta(Taker& from, RuleExpression& to) {
    from.upTo(NFTA_META_SREG);
    to.writes = from.has(NFTA_META_SREG);
    from.number(NFTA_META_DREG, to.destination, !to.writes);
    from.number(NFTA_META_SREG, to.source, to.writes);
    from.number(NFTA_META_KEY, to.key);
}

void takeCt(Taker& from, RuleExpression& to) {
    from.upTo(NFTA_CT_SREG);
    to.writes = from.has(NFTA_CT_SREG);
    from.number(NFTA_CT_DREG, to.destination, !to.writes);
    from.number(NFTA_CT_SREG, to.source, to.writes);
    from.number(NFTA_CT_KEY, to.key);
}

void takeLookup(Taker& from, RuleExpression& to) {
    from.upTo(NFTA_LOOKUP_FLAGS);
    from.name(NFTA_LOOKUP_SET);
    from.number(NFTA_LOOKUP_SREG, to.source);
    to.writes = from.has(NFTA_LOOKUP_DREG); // a map: it writes the register
    from.number(NFTA_LOOKUP_DREG, to.destination, false);
    from.number(NFTA_LOOKUP_FLAGS, to.operation, false);
    from.known((to.operation & ~std::uint32_t{NFT_LOOKUP_F_INV}) == 0);
}

void takeRt(Taker& from, RuleExpression& to) {
    from.upTo(NFTA_RT_KEY);
    from.number(NFTA_RT_DREG, to.destination);
    from.number(NFTA_RT_KEY, to.key);
}

void takeFib(Taker& from, RuleExpression& to) {
    from.upTo(NFTA_FIB_FLAGS);
    from.number(NFTA_FIB_DREG, to.destination);
    from.number(NFTA_FIB_RESULT, to.key);
    std::uint32_t flags = 0;
    from.number(NFTA_FIB_FLAGS, flags);
    constexpr std::uint32_t knownFlags = NFTA_FIB_F_SADDR | NFTA_FIB_F_DADDR | NFTA_FIB_F_MARK |
                                         NFTA_FIB_F_IIF | NFTA_FIB_F_OIF | NFTA_FIB_F_PRESENT;
    from.known(to.key <= NFT_FIB_RESULT_ADDRTYPE && (flags & ~knownFlags) == 0);
}

void takeHash(Taker& from, RuleExpression& to) {
    from.upTo(NFTA_HASH_SET_ID);
    from.number(NFTA_HASH_DREG, to.destination);
    from.number(NFTA_HASH_TYPE, to.key);
    from.known(to.key <= NFT_HASH_SYM);
}

/// Of IPv6's extension headers, of options of IPv4 and of TCP.
void takeHeader(Taker& from, RuleExpression& to) {
    from.upTo(NFTA_EXTHDR_SREG);
    to.writes = !from.has(NFTA_EXTHDR_DREG); // it changes options, or takes them away
    from.number(NFTA_EXTHDR_DREG, to.destination, !to.writes);
    from.byte(NFTA_EXTHDR_TYPE, to.key);
    from.number(NFTA_EXTHDR_LEN, to.length);
    from.number(NFTA_EXTHDR_FLAGS, to.offset, false);
    from.number(NFTA_EXTHDR_OP, to.operation, false);
    from.known((to.offset & ~std::uint32_t{NFT_EXTHDR_F_PRESENT}) == 0);
}

/// Others need to know only which set packets change.
void takeDynset(Taker& from, RuleExpression&) {
    from.name(NFTA_DYNSET_SET_NAME);
}

void takeObject(Taker& from, RuleExpression& to) {
    from.upTo(NFTA_OBJREF_SET_ID);
    if (from.has(NFTA_OBJREF_SET_NAME)) {
        from.name(NFTA_OBJREF_SET_NAME);
        from.number(NFTA_OBJREF_SET_SREG, to.source);
        to.writes = true; // by a map
    } else {
        from.name(NFTA_OBJREF_IMM_NAME);
        from.number(NFTA_OBJREF_IMM_TYPE, to.operation);
    }
}

/// Targets have the same attributes.
void takeMatch(Taker& from, RuleExpression& to) {
    from.upTo(NFTA_MATCH_INFO);
    from.name(NFTA_MATCH_NAME);
    from.number(NFTA_MATCH_REV, to.key);
    if (const auto info = from.attributes().find(NFTA_MATCH_INFO))
        to.data = copyOf(*info);
}

struct Kind {
    std::string_view name;
    void (*take)(Taker&, RuleExpression&);
};
constexpr std::array kinds{Kind{"immediate", takeImmediate},
                           Kind{"cmp", takeCmp},
                           Kind{"range", takeRange},
                           Kind{"bitwise", takeBitwise},
                           Kind{"byteorder", takeByteorder},
                           Kind{"payload", takePayload},
                           Kind{"meta", takeMeta},
                           Kind{"ct", takeCt},
                           Kind{"lookup", takeLookup},
                           Kind{"rt", takeRt},
                           Kind{"fib", takeFib},
                           Kind{"hash", takeHash},
                           Kind{"exthdr", takeHeader},
                           Kind{"dynset", takeDynset},
                           Kind{"objref", takeObject},
                           Kind{"match", takeMatch},
                           Kind{"target", takeMatch}};

} // namespace

RuleExpression decodeExpression(const netlink::Attributes& element) {
    RuleExpression expression;
    expression.kind = element.text(NFTA_EXPR_NAME);
    const auto data = element.nested(NFTA_EXPR_DATA);
    expression.understood = data.has_value() && !expression.kind.empty() && element.within(NFTA_EXPR_DATA);
    if (!data)
        return expression;
    // Of kinds without a row, the name says all that is needed.
    for (const auto& kind : kinds)
        if (kind.name == expression.kind) {
            Taker taker(*data, expression);
            kind.take(taker, expression);
        }
    return expression;
}

std::optional<model::RuleVerdict> decodeVerdict(const netlink::Attributes& verdict) {
    const auto code = verdict.value<std::uint32_t>(NFTA_VERDICT_CODE);
    if (!code || !verdict.within(NFTA_VERDICT_CHAIN_ID))
        return std::nullopt;
    return model::RuleVerdict{static_cast<std::int32_t>(ntohl(*code)), verdict.text(NFTA_VERDICT_CHAIN)};
}

} // namespace tna::introspect
