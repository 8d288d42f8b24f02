// SPDX-License-Identifier: Apache-2.0
#include "introspect/filtering.hpp"

#include "introspect/decode_netfilter.hpp"

#include <cerrno>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/xfrm.h>
#include <sys/socket.h>
#include <utility>

namespace tna::introspect {

namespace {

constexpr int tableMessage(int type) {
    return (NFNL_SUBSYS_NFTABLES << 8) | type;
}

/// A pair of sockets of one protocol; both stay empty where the kernel does not have it.
Result<void> openPair(int protocol, unsigned group, std::size_t receiveBuffer,
                      std::optional<netlink::Socket>& requests, std::optional<netlink::Socket>& events) {
    auto first = netlink::Socket::open(protocol);
    if (!first)
        return first.error().number == EPROTONOSUPPORT ? Result<void>{} : std::unexpected(first.error());
    auto second = netlink::Socket::open(protocol, receiveBuffer);
    if (!second)
        return std::unexpected(second.error());
    if (auto joined = second->join({group}); !joined)
        return joined;
    requests = std::move(*first);
    events = std::move(*second);
    return {};
}

netlink::Socket::Drained drain(std::optional<netlink::Socket>& events,
                               const netlink::MessageHandler& handler) {
    return events ? events->drain(handler) : netlink::Socket::Drained{};
}

} // namespace

Result<void> Filtering::open(std::size_t receiveBuffer) {
    if (auto done =
            openPair(NETLINK_NETFILTER, NFNLGRP_NFTABLES, receiveBuffer, tableRequests_, tableEvents_);
        !done)
        return done;
    return openPair(NETLINK_XFRM, XFRMNLGRP_POLICY, receiveBuffer, policyRequests_, policyEvents_);
}

std::vector<int> Filtering::fds() const {
    std::vector<int> found;
    for (const auto* socket : {&tableEvents_, &policyEvents_})
        if (*socket)
            found.push_back((*socket)->fd());
    return found;
}

Result<std::uint64_t> Filtering::process() {
    std::uint64_t events = 0;
    bool tables = false;
    const auto ofTables = drain(tableEvents_, [&](const netlink::Message& message) {
        ++events;
        tables |= changesRules(message);
    });
    const auto ofPolicies = drain(policyEvents_, [&](const netlink::Message&) { ++events; });
    behind_ = ofTables.rest || ofPolicies.rest;
    if (ofTables.any)
        tracker_.noteRuleSets();
    if (std::exchange(suspected_, false) || tables || ofTables.lost)
        if (auto done = readTables(); !done)
            return std::unexpected(done.error());
    if (ofPolicies.any)
        if (auto done = readPolicies(); !done)
            return std::unexpected(done.error());
    return events;
}

Result<void> Filtering::readAll() {
    if (auto done = readTables(); !done)
        return done;
    return readPolicies();
}

Result<void> Filtering::readTables() {
    if (!tableRequests_)
        return {};
    model::Netfilter found;
    found.legacyTables = tracker_.network().netfilter.legacyTables;
    netlink::Request chains(tableMessage(NFT_MSG_GETCHAIN), NLM_F_DUMP, nfgenmsg{AF_UNSPEC, NFNETLINK_V0, 0});
    auto outcome = tableRequests_->dump(
        chains, [&] { found.hooks.clear(); },
        [&](const netlink::Message& message) {
            if (auto hooks = decodeChain(message))
                found.hooks.insert(found.hooks.end(), hooks->begin(), hooks->end());
        });
    if (outcome.error == 0) {
        netlink::Request rules(tableMessage(NFT_MSG_GETRULE), NLM_F_DUMP,
                               nfgenmsg{AF_UNSPEC, NFNETLINK_V0, 0});
        outcome = tableRequests_->dump(
            rules, [&] { found.rules = found.bridgeRules = 0; },
            [&](const netlink::Message& message) {
                ++found.rules;
                if (message.header<nfgenmsg>().value_or(nfgenmsg{}).nfgen_family == NFPROTO_BRIDGE)
                    ++found.bridgeRules;
            });
    }
    if (outcome.error == 0) {
        netlink::Request flowtables(tableMessage(NFT_MSG_GETFLOWTABLE), NLM_F_DUMP,
                                    nfgenmsg{AF_UNSPEC, NFNETLINK_V0, 0});
        std::vector<model::NetfilterHook> ingress;
        outcome = tableRequests_->dump(
            flowtables, [&] { ingress.clear(); },
            [&](const netlink::Message& message) {
                if (auto hooks = decodeFlowtable(message))
                    ingress.insert(ingress.end(), hooks->begin(), hooks->end());
            });
        found.hooks.insert(found.hooks.end(), ingress.begin(), ingress.end());
    }
    // nfnetlink without nf_tables answers EINVAL or EOPNOTSUPP: then there are no such rules.
    if (outcome.error != 0 && outcome.error != EINVAL && outcome.error != EOPNOTSUPP)
        return failErrno(outcome.error, "cannot read the nf_tables rule set");
    tracker_.replace(&model::Network::netfilter, std::move(found));
    return {};
}

Result<void> Filtering::readPolicies() {
    if (!policyRequests_)
        return {};
    netlink::Request request(XFRM_MSG_GETSPDINFO, 0, std::uint32_t{0});
    std::optional<std::uint32_t> count;
    const auto outcome = policyRequests_->exchange(
        request, [&](const netlink::Message& message) { count = decodePolicyCount(message); });
    if (outcome.error != 0 || !count)
        return failErrno(outcome.error, "cannot read the number of xfrm policies");
    tracker_.replace(&model::Network::xfrmPolicies, *count);
    return {};
}

} // namespace tna::introspect
