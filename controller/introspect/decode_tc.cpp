// SPDX-License-Identifier: Apache-2.0
#include "introspect/decode_tc.hpp"

#include <linux/rtnetlink.h>

namespace tna::introspect {

std::optional<model::Qdisc> decodeQdisc(const Message& message) {
    const auto header = message.header<tcmsg>();
    const auto attributes = message.attributes<tcmsg>();
    if (!header || !attributes || header->tcm_ifindex <= 0)
        return std::nullopt;
    model::Qdisc qdisc{static_cast<model::IfIndex>(header->tcm_ifindex), header->tcm_handle,
                       header->tcm_parent, attributes->text(TCA_KIND)};
    return qdisc.kind.empty() ? std::nullopt : std::optional(qdisc);
}

std::optional<FilterMessage> decodeFilter(const Message& message) {
    const auto header = message.header<tcmsg>();
    const auto attributes = message.attributes<tcmsg>();
    if (!header || !attributes)
        return std::nullopt;
    return FilterMessage{header->tcm_ifindex, header->tcm_handle};
}

} // namespace tna::introspect
