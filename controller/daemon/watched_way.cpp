// SPDX-License-Identifier: Apache-2.0
#include "daemon/watched_way.hpp"

#include "capability/driver_table.hpp"

#include <spdlog/spdlog.h>

namespace tna::daemon {

void WatchedWay::readTcx() {
    observed().tcxIngress.clear();
    observed().tcxEgress.clear();
    for (const auto& [ifindex, link] : source().network().links) {
        if (!link.bridgePort)
            continue;
        if (kernel().hasTcxAtIngress(ifindex))
            observed().tcxIngress.insert(ifindex);
        if (kernel().hasTcxAtEgress(ifindex))
            observed().tcxEgress.insert(ifindex);
    }
}

void WatchedWay::readVlanDevices() {
    observed().underVlanDevices.reset();
    if (!vlanDevices_)
        return;
    std::set<model::IfIndex> found;
    for (const auto& [ifindex, link] : source().network().links)
        // What cannot be asked about may have one.
        if (link.bridgePort && vlanDevices_->any(ifindex).value_or(true))
            found.insert(ifindex);
    observed().underVlanDevices = std::move(found);
}

/// These, or, where that cannot be asked, all that there are.
std::set<model::IfIndex> WatchedWay::bridgesOf(Result<std::set<model::IfIndex>> found) const {
    if (found)
        return std::move(*found);
    std::set<model::IfIndex> all;
    for (const auto& [ifindex, link] : source().network().links)
        if (link.bridge)
            all.insert(ifindex);
    return all;
}

void WatchedWay::readBridges() {
    auto& rings = observed().ringBridges;
    rings.clear();
    if (observed().capabilities.mrp)
        rings = bridgesOf(kernel().rings());
    observed().promiscuousBridges = bridgesOf(kernel().promiscuousBridges());
}

std::optional<std::string> WatchedWay::prepare(Time) {
    readTcx();
    readVlanDevices();
    readBridges();
    return std::nullopt;
}

bool WatchedWay::look() {
    const auto ingress = observed().tcxIngress;
    const auto egress = observed().tcxEgress;
    const auto under = observed().underVlanDevices;
    const auto rings = observed().ringBridges;
    const auto promiscuous = observed().promiscuousBridges;
    const bool features = readFeatures();
    readTcx();
    readVlanDevices();
    readBridges();
    return features || ingress != observed().tcxIngress || egress != observed().tcxEgress ||
           under != observed().underVlanDevices || rings != observed().ringBridges ||
           promiscuous != observed().promiscuousBridges;
}

void WatchedWay::follow() {
    dataPath().fdb().open(observed().informed);
}

void WatchedWay::announce() const {
    spdlog::info("the kernel is not read in place, but watched over netlink: {}",
                 observed().capabilities.inPlaceFdb.detail);
    spdlog::info("stations: {}", observed().capabilities.kfunc.detail);
}

void WatchedWay::driversDoNotTell(const Error&) {
    observed().capabilities.devices = capability::featuresByDriver(source().network());
}

void MirroringWay::announce() const {
    spdlog::info("the kernel is not read in place, but watched over netlink: {}",
                 observed().capabilities.inPlaceFdb.detail);
}

void MirroringWay::sayWhatIsWrong(Done all) {
    std::string wrong;
    for (const auto* done : all)
        if (!*done)
            wrong += (wrong.empty() ? "" : "; ") + done->error().sentence();
    if (!wrong.empty() && wrong != said_)
        spdlog::error("{}", wrong);
    said_ = std::move(wrong);
}

void MirroringWay::takeIn() {
    const auto processed = stations_.process([&] { dataPath().fdb().open(false); });
    const auto changes = stations_.take();
    if (!changes.empty())
        dataPath().fdb().open(false);
    const auto applied = dataPath().fdb().mirror()->apply(changes);
    if (!processed || !applied)
        sayWhatIsWrong({&processed, &applied});
}

void MirroringWay::follow() {
    auto& mirror = *dataPath().fdb().mirror();
    const auto processed = stations_.process([&] { dataPath().fdb().open(false); });
    const auto applied = mirror.apply(stations_.take());
    // Frames of doubtful stations are Linux's while it is asked for them.
    const auto confirmed = stations_.confirm();
    const auto completed = mirror.apply(stations_.take());
    sayWhatIsWrong({&processed, &applied, &confirmed, &completed});
    const bool full = mirror.left() > 0;
    if (full && !saidFull_)
        spdlog::warn("the mirror has no room for more than {} stations; frames of others are left to Linux "
                     "(raise max_stations under [limits] in the configuration)",
                     mirror.capacity());
    saidFull_ = full;
    auto& finding = observed().capabilities.mirror;
    finding = {stations_.complete(),
               fmt::format("{} stations, room for {}", mirror.size(), mirror.capacity())};
    if (full)
        finding.detail += fmt::format("; {} found none and stay with Linux", mirror.left());
    dataPath().fdb().open(observed().informed && stations_.complete());
}

} // namespace tna::daemon
