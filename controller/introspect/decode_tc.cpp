// SPDX-License-Identifier: Apache-2.0
#include "introspect/decode_tc.hpp"

#include <array>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

namespace tna::introspect {

namespace {

struct Setting {
    const char* kind;
    std::uint16_t attribute;
    const char* name; ///< as tc calls it
};
constexpr std::array settings = {Setting{"fq", TCA_FQ_PLIMIT, "limit"},
                                 Setting{"fq", TCA_FQ_FLOW_PLIMIT, "flow_limit"},
                                 Setting{"fq", TCA_FQ_FLOW_MAX_RATE, "maxrate"},
                                 Setting{"fq", TCA_FQ_CE_THRESHOLD, "ce_threshold"},
                                 Setting{"fq_codel", TCA_FQ_CODEL_LIMIT, "limit"},
                                 Setting{"fq_codel", TCA_FQ_CODEL_MEMORY_LIMIT, "memory_limit"},
                                 Setting{"fq_codel", TCA_FQ_CODEL_CE_THRESHOLD, "ce_threshold"}};

std::map<std::string, std::uint64_t> settingsOf(const std::string& kind,
                                                const netlink::Attributes& attributes) {
    std::map<std::string, std::uint64_t> found;
    const auto options = attributes.nested(TCA_OPTIONS);
    for (const auto& setting : settings)
        if (options && kind == setting.kind)
            if (const auto value = options->value<std::uint32_t>(setting.attribute))
                found[setting.name] = *value;
    if (attributes.has(TCA_STAB))
        found["stab"] = 1;
    return found;
}

} // namespace

std::optional<model::Qdisc> decodeQdisc(const netlink::Message& message) {
    const auto header = message.header<tcmsg>();
    const auto attributes = message.attributes<tcmsg>();
    if (!header || !attributes || header->tcm_ifindex <= 0)
        return std::nullopt;
    model::Qdisc qdisc{static_cast<model::IfIndex>(header->tcm_ifindex),
                       header->tcm_handle,
                       header->tcm_parent,
                       attributes->text(TCA_KIND),
                       {}};
    qdisc.settings = settingsOf(qdisc.kind, *attributes);
    return qdisc.kind.empty() ? std::nullopt : std::optional(qdisc);
}

std::optional<FilterMessage> decodeFilter(const netlink::Message& message) {
    const auto header = message.header<tcmsg>();
    const auto attributes = message.attributes<tcmsg>();
    if (!header || !attributes)
        return std::nullopt;
    return FilterMessage{header->tcm_ifindex, header->tcm_handle};
}

} // namespace tna::introspect
