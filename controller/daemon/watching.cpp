// SPDX-License-Identifier: Apache-2.0
// The part of the controller that keeps watch where the fast path cannot look by itself.
#include "capability/driver_table.hpp"
#include "capability/xdp_features.hpp"
#include "daemon/controller.hpp"
#include "deploy/kernel/tcx.hpp"

#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
constexpr std::chrono::milliseconds ordinaryTick{1000};
/// What nobody announces (packet sockets without promiscuity, tcx, sysctls) is seen at most so late.
constexpr std::chrono::milliseconds watchfulTick{100};
} // namespace

std::chrono::milliseconds Controller::tick() const {
    return watched() ? watchfulTick : ordinaryTick;
}

void Controller::readFeatures() {
    auto devices = capability::readXdpFeatures();
    capabilities_.driversTell = devices.has_value();
    if (devices)
        capabilities_.devices = std::move(*devices);
    else if (watched())
        capabilities_.devices = capability::featuresByDriver(introspector_->network());
    else
        spdlog::warn("{}", devices.error().sentence());
}

void Controller::readTcx() {
    tcxIngress_.clear();
    tcxEgress_.clear();
    for (const auto& [ifindex, link] : introspector_->network().links) {
        if (!link.bridgePort)
            continue;
        if (deploy::hasTcxAtIngress(ifindex))
            tcxIngress_.insert(ifindex);
        if (deploy::hasTcxAtEgress(ifindex))
            tcxEgress_.insert(ifindex);
    }
}

void Controller::readVlanDevices() {
    underVlanDevices_.reset();
    if (!loaded_.vlanDevices)
        return;
    std::set<model::IfIndex> found;
    for (const auto& [ifindex, link] : introspector_->network().links)
        // What cannot be asked about may have one.
        if (link.bridgePort && loaded_.vlanDevices->any(ifindex).value_or(true))
            found.insert(ifindex);
    underVlanDevices_ = std::move(found);
}

/// Whether something is different that is not announced and not in the model.
bool Controller::pollWatched() {
    const auto devices = capabilities_.devices;
    const auto ingress = tcxIngress_;
    const auto egress = tcxEgress_;
    const auto under = underVlanDevices_;
    readFeatures();
    readTcx();
    readVlanDevices();
    return devices != capabilities_.devices || ingress != tcxIngress_ || egress != tcxEgress_ ||
           under != underVlanDevices_;
}

/// Where nothing is read in place, frames are Linux's for as long as it cannot be read what it was told.
void Controller::followWatched() {
    if (!watched())
        return;
    if (loaded_.stations)
        followStations();
    loaded_.fastPath->open(informed_ && (!loaded_.stations || loaded_.stations->complete()));
}

void Controller::followStations() {
    auto& mirror = *loaded_.fastPath->mirror();
    auto& stations = *loaded_.stations;
    const auto processed = stations.process([&] { loaded_.fastPath->open(false); });
    const auto applied = mirror.apply(stations.take());
    for (const auto* done : {&processed, &applied})
        if (!*done)
            spdlog::error("{}", done->error().sentence());
    const bool full = mirror.left() > 0;
    if (full && !saidFull_)
        spdlog::warn("the mirror has no room for more than {} stations; frames of others are left to Linux "
                     "(raise max_stations under [limits] in the configuration)",
                     mirror.capacity());
    saidFull_ = full;
    capabilities_.mirror = {stations.complete(),
                            fmt::format("{} stations, room for {}", mirror.size(), mirror.capacity())};
    if (full)
        capabilities_.mirror.detail += fmt::format("; {} found none and stay with Linux", mirror.left());
}

} // namespace tna::daemon
