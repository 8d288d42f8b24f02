// SPDX-License-Identifier: Apache-2.0
#include "introspect/traffic_control.hpp"

#include <cerrno>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <utility>

namespace tna::introspect {

bool TrafficControl::onFilter(const Message& message) {
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
    for (const auto& [ifindex, link] : tracker_.network().links)
        if (link.ingressFilters != 0 || link.egressFilters != 0)
            staleFilters_.insert(ifindex);
    return settle();
}

Result<void> TrafficControl::readQdiscs() {
    Request request(RTM_GETQDISC, NLM_F_DUMP, tcmsg{});
    std::vector<model::Qdisc> found;
    const auto outcome = requests_.dump(
        request, [&] { found.clear(); },
        [&](const Message& message) {
            if (auto qdisc = decodeQdisc(message))
                found.push_back(std::move(*qdisc));
        });
    if (outcome.error != 0 && outcome.error != EOPNOTSUPP)
        return failErrno(outcome.error, "cannot read the queueing disciplines");
    std::map<model::IfIndex, bool> classified;
    std::map<model::IfIndex, std::set<std::string>> queues;
    for (const auto& qdisc : found) {
        // TC_H_INGRESS and TC_H_CLSACT are the same parent.
        if (qdisc.parent == TC_H_INGRESS)
            classified[qdisc.ifindex] = qdisc.kind == "clsact";
        else
            queues[qdisc.ifindex].insert(qdisc.kind);
        const auto* link = tracker_.network().link(qdisc.ifindex);
        if (qdisc.parent == TC_H_ROOT && link != nullptr && link->rootQdisc != qdisc.kind)
            tracker_.edit(qdisc.ifindex).rootQdisc = qdisc.kind;
    }
    for (const auto& [ifindex, link] : tracker_.network().links)
        if (const auto& kinds = queues[ifindex]; kinds != link.queues)
            tracker_.edit(ifindex).queues = kinds;
    // What the kernel attached by itself has no handle.
    std::erase_if(found, [](const model::Qdisc& qdisc) { return qdisc.handle == 0; });
    tracker_.replace(&model::Network::qdiscs, std::move(found));
    std::swap(classified_, classified);
    for (const auto& [ifindex, egress] : classified_)
        if (const auto old = classified.find(ifindex); old == classified.end() || old->second != egress)
            staleFilters_.insert(ifindex);
    for (const auto& [ifindex, egress] : classified)
        if (!classified_.contains(ifindex))
            staleFilters_.insert(ifindex);
    return {};
}

Result<std::uint32_t> TrafficControl::countFilters(model::IfIndex ifindex, std::uint32_t parent) {
    tcmsg header{};
    header.tcm_ifindex = static_cast<int>(ifindex);
    header.tcm_parent = parent;
    Request request(RTM_GETTFILTER, NLM_F_DUMP, header);
    std::uint32_t count = 0;
    const auto outcome = requests_.dump(
        request, [&] { count = 0; },
        [&](const Message& message) {
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
    auto& link = tracker_.edit(ifindex);
    link.ingressFilters = *ingress;
    link.egressFilters = *egress;
    return {};
}

} // namespace tna::introspect
