// SPDX-License-Identifier: Apache-2.0
// The part of the controller that decides and acts: from the network as it was read to what is in place.
#include "base/log_fields.hpp"
#include "config/selection.hpp"
#include "daemon/controller.hpp"

#include <cerrno>
#include <set>
#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
/// What goes on changing is left to the next tick.
constexpr int mostRounds = 8;

Presumed presumed(const model::Network& network) {
    Presumed now;
    for (const auto& [ifindex, link] : network.links) {
        if (link.bridge)
            now.bridgeTimes[ifindex] = {link.bridge->ageingTime, link.bridge->topologyChange};
        if (link.ip.ignoreRoutesWithLinkDown)
            now.ignoresLinkDown.insert(ifindex);
    }
    const auto all = network.sysctls.find("net.ipv4.conf.all.ignore_routes_with_linkdown");
    now.allIgnoreLinkDown = all != network.sysctls.end() && all->second != "0";
    return now;
}
} // namespace

std::optional<unsigned> Controller::manyRoutes() const {
    return config_.limits.destinations > 0 ? std::optional{config_.limits.manyRoutes} : std::nullopt;
}

assemble::Wishes Controller::wishes() const {
    assemble::Wishes wishes;
    wishes.allPaused = allPaused_;
    const auto mistrusted = loaded_.fastPath->mistrusted();
    wishes.mistrusted = {mistrusted.begin(), mistrusted.end()};
    wishes.refresh = std::chrono::milliseconds(config_.kernel.refresh);
    for (const auto& [ifindex, link] : introspector_->network().links) {
        if (auto excluded = config::excludedBy(config_.ports, link.name, link.driver, link.kind))
            wishes.excluded[ifindex] = {excluded->code, excluded->sentence, excluded->hint};
        if (paused_.contains(link.name))
            wishes.paused.insert(ifindex);
        if (loaded_.fastPath->attached(ifindex))
            wishes.attached.insert(ifindex);
        if (config::promisesFinishedFrames(config_.ports, link.name))
            wishes.finished.insert(ifindex);
        if (config::trusts(config_.ports, link.driver, link.kind))
            wishes.trusted.insert(ifindex);
    }
    wishes.refused = refusedPorts_.reasons();
    wishes.refusalsUnseen = refusedPorts_.blind();
    wishes.custom = custom_.on(introspector_->network());
    wishes.tcxIngress = tcxIngress_;
    wishes.tcxEgress = tcxEgress_;
    wishes.underVlanDevices = underVlanDevices_;
    wishes.manyRoutes = manyRoutes();
    return wishes;
}

/// Makes the network as it was read what the fast path is for; again, where it was not any more.
void Controller::reconcile(std::chrono::steady_clock::time_point since) {
    again_ = true;
    for (int round = 0; again_ && round < mostRounds; round++)
        again_ = reconcileOnce(since);
}

/// Whether a port that failed is gone, and what was read of that says more.
bool Controller::reconcileOnce(std::chrono::steady_clock::time_point since) {
    proveInPlace();
    readFeatures();
    if (watched()) {
        readTcx();
        readVlanDevices();
    }
    auto wanted = wishes();
    auto plan = assemble::assemble(introspector_->network(), capabilities_, wanted);
    if (refusedPorts_.watch(*loaded_.fastPath, plan, introspector_->network())) {
        wanted = wishes();
        plan = assemble::assemble(introspector_->network(), capabilities_, wanted);
    }
    const auto before = std::exchange(plan_, std::move(plan));
    auto applied = loaded_.fastPath->apply(plan_, introspector_->network());
    // The kernel does not announce that a program of ours is gone, which would be taken for somebody else's.
    for (const auto ifindex : wanted.attached)
        if (!loaded_.fastPath->attached(ifindex))
            introspector_->suspect(ifindex);
    if (auto now = presumed(introspector_->network()); now != presumed_) {
        presumed_ = std::move(now);
        loaded_.fastPath->forgetFlows();
    }
    events_.swaps += applied.swapped;
    if (applied.swapped > 0) {
        const auto now = std::chrono::steady_clock::now();
        events_.lastSwapMicroseconds =
            std::chrono::duration_cast<std::chrono::microseconds>(now - since).count();
        events_.lastSwapAt = now.time_since_epoch() / std::chrono::nanoseconds(1);
    }
    const bool different = dropGone(applied.failures);
    tellFailures(applied.failures);
    const auto failedBefore = std::exchange(failures_, std::move(applied.failures));
    tellChanges(before, failedBefore);
    return different;
}

/// The kernel calls an index without a device an invalid argument, as much else, and the announcement that a
/// device is gone may be on its way. Whether something is to be decided anew.
bool Controller::dropGone(Failures& failures) {
    std::set<model::IfIndex> doubtful;
    for (const auto& [ifindex, error] : failures)
        if ((error.number == EINVAL || error.number == ENODEV) && !failures_.contains(ifindex))
            doubtful.insert(ifindex);
    if (doubtful.empty())
        return false;
    for (const auto ifindex : doubtful)
        introspector_->suspect(ifindex);
    const auto changes = introspector_->process();
    for (const auto ifindex : doubtful)
        if (introspector_->network().link(ifindex) == nullptr) {
            failures.erase(ifindex);
            plan_.ports.erase(ifindex); // nobody is told that it was anything
        }
    return changes && concerns(*changes);
}

void Controller::tellFailures(const Failures& failures) {
    for (const auto& [ifindex, error] : failures)
        if (!failures_.contains(ifindex)) {
            events_.failures++;
            const auto port = plan_.ports.find(ifindex);
            const LogFields about{{"TNA_PORT", port == plan_.ports.end() ? "" : port->second.name}};
            spdlog::warn("{}", error.sentence());
        }
}

} // namespace tna::daemon
