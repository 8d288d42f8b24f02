// SPDX-License-Identifier: Apache-2.0
#include "deploy/fast_path.hpp"

#include "deploy/ports/refusals.hpp"

namespace tna::deploy {

FastPath::FastPath(FastPathParts parts)
    : pipeline_(std::move(parts.pipeline)), counters_(std::move(parts.counters)), fdb_(std::move(parts.fdb)),
      profiles_(std::move(parts.profiles)), ruleLearning_(std::move(parts.ruleLearning)),
      selfCheck_(*pipeline_), spared_(*pipeline_), ports_(std::move(parts.ports)),
      attachments_(std::move(parts.attachments)) {}

Applied FastPath::apply(const assemble::Plan& plan, const model::Network& network) {
    Applied applied;
    const auto findPlace = [&](model::IfIndex ifindex) { return placeOf(ifindex); };
    attachments_.dropUnplanned(plan, applied);
    ports_.dropUnplanned(plan);
    fdb_->tell(plan, findPlace, applied); // first, for what must not go on; and for the new ones at the end
    placePorts(plan, network, applied);
    ports_.placeEgressModules(plan, profiles_->custom(), applied);
    profiles_->dropUnused(plan);
    attachments_.dropUnused();
    fdb_->tell(plan, findPlace, applied);
    return applied;
}

void FastPath::placePorts(const assemble::Plan& plan, const model::Network& network, Applied& applied) {
    for (const auto& [ifindex, port] : plan.ports)
        if (port.egress || port.profile)
            if (auto added = ports_.add(ifindex, SlotTable::shortestOut(port)); !added)
                applied.failures.emplace(ifindex, added.error());
    for (const auto& [ifindex, port] : plan.ports) {
        const auto* link = network.link(ifindex);
        if (!port.profile || link == nullptr)
            continue;
        if (!applied.failures.contains(ifindex))
            if (auto placed = attachments_.place(port, *link, applied); !placed)
                applied.failures.emplace(ifindex, placed.error());
        // What cannot be as it should be is left to Linux, not to an older plan.
        if (applied.failures.contains(ifindex))
            attachments_.remove(ifindex);
    }
}

std::optional<PlaceOfPort> FastPath::placeOf(model::IfIndex ifindex) const {
    const auto slot = ports_.slots().slotOf(ifindex);
    if (!slot)
        return std::nullopt;
    return PlaceOfPort{*slot, attachments_.profileOn(ifindex) != nullptr};
}

Result<std::unique_ptr<RefusalLog>> FastPath::watchRefusals() const {
    return Refusals::watch(*pipeline_, ports_.slots().capacity());
}

Result<Verdict> FastPath::tryFrame(model::IfIndex port, const std::vector<std::uint8_t>& frame) const {
    const auto* profile = attachments_.profileOn(port);
    if (profile == nullptr || !ports_.slots().slotOf(port) || !fdb_->seesEveryFrame())
        return fail("the port is not accelerated in place");
    return deploy::tryFrame(*pipeline_, *profiles_, ports_.slots(), *profile, port, frame);
}

} // namespace tna::deploy
