// SPDX-License-Identifier: Apache-2.0
#include "introspect/traffic_control.hpp"

#include <cerrno>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <utility>

namespace tna::introspect {

namespace {

/// Of the kinds that may be plain, the one with filters (fq_codel_class_ops). Those that the kernel attached
/// by itself have no handle, by which filters could be added to them, except the root.
bool mayFilter(const model::Qdisc& qdisc) {
    return qdisc.kind == "fq_codel" && (qdisc.handle != 0 || qdisc.parent == TC_H_ROOT);
}

/// Links whose places for filters are others than before.
template <typename Places>
void staleSince(const Places& old, const Places& now, std::set<model::IfIndex>& stale) {
    for (const auto& [ifindex, place] : now)
        if (const auto it = old.find(ifindex); it == old.end() || it->second != place)
            stale.insert(ifindex);
    for (const auto& [ifindex, place] : old)
        if (!now.contains(ifindex))
            stale.insert(ifindex);
}

} // namespace

/// One that goes takes its filters along, and one that comes may have a block that has some already, or be in
/// the place of one that looked the same: of none of these filters there is an announcement.
bool TrafficControl::onQdisc(const netlink::Message& message) {
    onQdisc();
    const auto header = message.header<tcmsg>();
    if (!header)
        return false;
    staleFilters_.insert(static_cast<model::IfIndex>(header->tcm_ifindex));
    return true;
}

bool TrafficControl::onFilter(const netlink::Message& message) {
    const auto decoded = decodeFilter(message);
    if (!decoded)
        return false;
    if (static_cast<std::uint32_t>(decoded->ifindex) == TCM_IFINDEX_MAGIC_BLOCK)
        for (const auto& [ifindex, egress] : classified_)
            staleFilters_.insert(ifindex);
    else
        staleFilters_.insert(static_cast<model::IfIndex>(decoded->ifindex));
    return true;
}

Result<void> TrafficControl::settle() {
    if (std::exchange(stale_, false))
        if (auto done = readQdiscs(); !done)
            return done;
    for (const auto ifindex : std::exchange(staleFilters_, {}))
        if (auto done = readFilters(ifindex); !done)
            return done;
    return {};
}

Result<void> TrafficControl::readAll() {
    stale_ = true;
    classified_.clear();
    filtering_.clear();
    for (const auto& [ifindex, link] : tracker_.network().links)
        if (link.ingressFilters != 0 || link.egressFilters != 0 || link.queueFilters != 0)
            staleFilters_.insert(ifindex);
    return settle();
}

Result<void> TrafficControl::readQdiscs() {
    netlink::Request request(RTM_GETQDISC, NLM_F_DUMP, tcmsg{});
    std::vector<model::Qdisc> found;
    const auto outcome = requests_.dump(
        request, [&] { found.clear(); },
        [&](const netlink::Message& message) {
            if (auto qdisc = decodeQdisc(message))
                found.push_back(std::move(*qdisc));
        });
    if (outcome.error != 0 && outcome.error != EOPNOTSUPP)
        return failErrno(outcome.error, "cannot read the queueing disciplines");
    takeQueues(found);
    // What the kernel attached by itself has no handle.
    std::erase_if(found, [](const model::Qdisc& qdisc) { return qdisc.handle == 0; });
    tracker_.replace(&model::Network::qdiscs, std::move(found));
    return {};
}

void TrafficControl::takeQueues(const std::vector<model::Qdisc>& found) {
    std::map<model::IfIndex, bool> classified;
    std::map<model::IfIndex, std::set<std::uint32_t>> filtering;
    std::map<model::IfIndex, std::set<model::Discipline>> queues;
    for (const auto& qdisc : found) {
        // TC_H_INGRESS and TC_H_CLSACT are the same parent.
        if (qdisc.parent == TC_H_INGRESS)
            classified[qdisc.ifindex] = qdisc.kind == "clsact";
        else
            queues[qdisc.ifindex].insert({qdisc.kind, qdisc.settings});
        if (mayFilter(qdisc))
            filtering[qdisc.ifindex].insert(qdisc.handle);
        const auto* link = tracker_.network().link(qdisc.ifindex);
        if (qdisc.parent == TC_H_ROOT && link != nullptr && link->rootQdisc != qdisc.kind)
            tracker_.edit(qdisc.ifindex).rootQdisc = qdisc.kind;
    }
    for (const auto& [ifindex, link] : tracker_.network().links)
        if (const auto& disciplines = queues[ifindex]; disciplines != link.queues)
            tracker_.edit(ifindex).queues = disciplines;
    staleSince(classified_, classified, staleFilters_);
    staleSince(filtering_, filtering, staleFilters_);
    classified_ = std::move(classified);
    filtering_ = std::move(filtering);
}

Result<std::uint32_t> TrafficControl::countFilters(model::IfIndex ifindex, std::uint32_t parent) {
    tcmsg header{};
    header.tcm_ifindex = static_cast<int>(ifindex);
    header.tcm_parent = parent;
    netlink::Request request(RTM_GETTFILTER, NLM_F_DUMP, header);
    std::uint32_t count = 0;
    const auto outcome = requests_.dump(
        request, [&] { count = 0; },
        [&](const netlink::Message& message) {
            if (const auto filter = decodeFilter(message); filter && filter->handle != 0)
                ++count;
        });
    // The link or its discipline went in the meantime: then it has none.
    const bool gone = outcome.error == ENODEV || outcome.error == EINVAL || outcome.error == ENOENT ||
                      outcome.error == EOPNOTSUPP;
    if (outcome.error != 0 && !gone)
        return failErrno(outcome.error, "cannot read the filters of link {}", ifindex);
    return gone ? 0 : count;
}

Result<void> TrafficControl::readFilters(model::IfIndex ifindex) {
    if (tracker_.network().link(ifindex) == nullptr)
        return {};
    Result<std::uint32_t> ingress = 0;
    Result<std::uint32_t> egress = 0;
    if (const auto found = classified_.find(ifindex); found != classified_.end()) {
        ingress = countFilters(ifindex, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS));
        // An ingress discipline answers to any minor number with its one list (ingress_tcf_block).
        if (found->second)
            egress = countFilters(ifindex, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS));
    }
    if (!ingress || !egress)
        return std::unexpected(ingress ? egress.error() : ingress.error());
    std::uint32_t own = 0;
    if (const auto found = filtering_.find(ifindex); found != filtering_.end())
        for (const auto handle : found->second) {
            const auto count = countFilters(ifindex, handle);
            if (!count)
                return std::unexpected(count.error());
            own += *count;
        }
    auto& link = tracker_.edit(ifindex);
    link.ingressFilters = *ingress;
    link.egressFilters = *egress;
    link.queueFilters = own;
    return {};
}

} // namespace tna::introspect
