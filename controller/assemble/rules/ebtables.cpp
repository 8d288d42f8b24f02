// SPDX-License-Identifier: Apache-2.0
// The matches and targets of ebtables, as ebtables-nft has them in rules of the family bridge.
#include "assemble/rules/expression.hpp"

#include <fmt/format.h>

namespace tna::assemble::rules {

/// Addresses, protocol, ports, and one more field of a packet of IP (ebt_ip_mt(), ebt_ip6_mt()).
Step evaluateOfBridge(const model::RuleExpression& expression) {
    const bool first = expression.kind == "match" && expression.key == 0;
    if (first && expression.name == "ip")
        return Step::key({"DSCP and ECN"});
    if (first && expression.name == "ip6")
        return Step::key({"traffic class and flow label"});
    if (expression.kind == "match")
        return Step::differs(
            fmt::format("the match '{}' of ebtables (revision {}) can answer differently for "
                        "packets of one flow",
                        expression.name, expression.key));
    return Step::never(fmt::format("the target {} of ebtables (revision {}) does more than decide",
                                   expression.name, expression.key));
}

} // namespace tna::assemble::rules
