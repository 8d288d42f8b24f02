// SPDX-License-Identifier: Apache-2.0
#include "deploy/fast_path.hpp"

#include "deploy/connections/bridge_learner.hpp"
#include "deploy/connections/learner.hpp"
#include "deploy/ports/refusals.hpp"

#include <algorithm>
#include <ctime>

namespace tna::deploy {

namespace {
/// The kernel's ticks, which are as long as the coarse clock is exact (CONFIG_HZ).
std::uint64_t jiffiesIn(std::chrono::nanoseconds time) {
    timespec tick{};
    if (::clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0 || tick.tv_nsec <= 0)
        tick.tv_nsec = 10'000'000;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(1, time.count() / tick.tv_nsec));
}
} // namespace

Result<std::unique_ptr<FastPath>> FastPath::load(const Limits& limits, const NamespaceFacts& facts,
                                                 const HookFunctions& hooks, Casts casts) {
    return makeInPlace(limits, facts, hooks, casts,
                       PipelineObject::load(casts, limits.maxPorts, limits.connections));
}

Result<std::unique_ptr<FastPath>> FastPath::loadTcx(const Limits& limits, const NamespaceFacts& facts,
                                                    const HookFunctions& hooks, Casts casts,
                                                    const FastPath& other) {
    return makeInPlace(limits, facts, hooks, casts,
                       PipelineObject::loadTcx(casts, limits.maxPorts, *other.pipeline_));
}

Result<std::unique_ptr<FastPath>> FastPath::makeInPlace(const Limits& limits, const NamespaceFacts& facts,
                                                        const HookFunctions& hooks, Casts casts,
                                                        Result<PipelineObject> pipeline) {
    if (!pipeline)
        return std::unexpected(pipeline.error());
    Constants constants{};
    constants[TNA_CONSTANT_NET] = facts.net;
    constants[TNA_CONSTANT_BRNF] = facts.brNetfilter;
    constants[TNA_CONSTANT_PACKED] = facts.packed;
    std::ranges::copy(hooks, &constants[TNA_CONSTANT_HOOK_PRE]);
    constants[TNA_CONSTANT_REFRESH] = jiffiesIn(limits.refresh);
    constants[TNA_CONSTANT_SELF_CHECK] = limits.selfCheck;
    if (pipeline->hook == assemble::Hook::xdp)
        constants[TNA_CONSTANT_TCX_ENTRY] = EntryPrograms::tagAtTcx();
    auto path = make(limits, std::move(*pipeline), constants, readFdbInPlace());
    if (path) {
        (*path)->casts_ = casts;
        (*path)->net_ = facts.net;
        (*path)->brNetfilter_ = facts.brNetfilter;
        (*path)->refresh_ = jiffiesIn(limits.refresh);
    }
    return path;
}

Result<std::unique_ptr<FastPath>> FastPath::loadWatched(const Limits& limits, Buffers buffers) {
    auto pipeline = PipelineObject::loadWatched(limits.maxPorts, limits.maxStations, buffers);
    if (!pipeline)
        return std::unexpected(pipeline.error());
    auto fdb = mirrorFdb(*pipeline, limits.maxPorts, limits.maxStations);
    if (!fdb)
        return std::unexpected(fdb.error());
    Constants constants{};
    constants[TNA_CONSTANT_SINGLE_BUFFER] = buffers == Buffers::single;
    return make({limits.maxPorts, 1, limits.maxStations}, std::move(*pipeline), constants, std::move(*fdb));
}

Result<std::unique_ptr<FastPath>> FastPath::loadAsking(const Limits& limits) {
    auto pipeline = PipelineObject::loadAsking(limits.maxPorts);
    if (!pipeline)
        return std::unexpected(pipeline.error());
    auto fdb = askBridge(*pipeline, limits.maxPorts);
    if (!fdb)
        return std::unexpected(fdb.error());
    return make({limits.maxPorts, 1, 0}, std::move(*pipeline), {}, std::move(*fdb));
}

Result<std::unique_ptr<FastPath>> FastPath::make(const Limits& limits, PipelineObject pipeline,
                                                 const Constants& constants, std::unique_ptr<FdbAccess> fdb) {
    auto caches = FlowCache::create(limits.flowsPerCpu, limits.destinations);
    if (!caches)
        return std::unexpected(caches.error());
    auto counters = std::make_unique<CounterReader>(CounterMaps{pipeline.portCounters, pipeline.decision},
                                                    limits.maxPorts);
    if (auto followed = counters->follow(caches->counting()); !followed)
        return std::unexpected(followed.error());
    auto presences =
        Presences::make(4 * limits.maxPorts); // of slots, and of attachments, of which some have none
    if (!presences)
        return std::unexpected(presences.error());
    auto attachments = Attachments::make(pipeline.hook, pipeline.buffers, *presences);
    if (!attachments)
        return std::unexpected(attachments.error());
    auto finish = FinishProgram::load(pipeline);
    if (!finish)
        return std::unexpected(finish.error());
    auto kept = std::make_unique<PipelineObject>(std::move(pipeline));
    ProfileStore profiles{*kept, constants, std::move(*finish), std::move(*caches), *counters};
    return std::unique_ptr<FastPath>{new FastPath(std::move(kept), std::move(counters), std::move(fdb),
                                                  limits.maxPorts, std::move(profiles),
                                                  std::move(*attachments), std::move(*presences))};
}

FastPath::FastPath(Pipeline pipeline, Counters counters, std::unique_ptr<FdbAccess> fdb, unsigned maxPorts,
                   ProfileStore profiles, Attachments attachments, Presences presences)
    : pipeline_(std::move(pipeline)), counters_(std::move(counters)), fdb_(std::move(fdb)),
      slots_(*pipeline_, maxPorts, std::move(presences)), selfCheck_(*pipeline_), spared_(*pipeline_),
      profiles_(std::move(profiles)), attachments_(std::move(attachments)) {}

Applied FastPath::apply(const assemble::Plan& plan, const model::Network& network) {
    Applied applied;
    const auto findPlace = [&](model::IfIndex ifindex) { return placeOf(ifindex); };
    attachments_.dropUnplanned(plan, applied);
    for (const auto ifindex : slots_.unplanned(plan))
        removeSlot(ifindex);
    fdb_->tell(plan, findPlace, applied); // first, for what must not go on; and for the new ones at the end
    placePorts(plan, network, applied);
    placeEgressModules(plan, applied);
    profiles_.dropUnused(plan);
    attachments_.dropUnused(profiles_);
    fdb_->tell(plan, findPlace, applied);
    return applied;
}

void FastPath::placePorts(const assemble::Plan& plan, const model::Network& network, Applied& applied) {
    for (const auto& [ifindex, port] : plan.ports)
        if (port.egress || port.profile)
            if (auto added = addSlot(ifindex, SlotTable::shortestOut(port)); !added)
                applied.failures.emplace(ifindex, added.error());
    for (const auto& [ifindex, port] : plan.ports) {
        const auto* link = network.link(ifindex);
        if (!port.profile || link == nullptr)
            continue;
        if (!applied.failures.contains(ifindex))
            if (auto placed = attachments_.place(port, *link, profiles_, applied); !placed)
                applied.failures.emplace(ifindex, placed.error());
        // What cannot be as it should be is left to Linux, not to an older plan.
        if (applied.failures.contains(ifindex))
            attachments_.remove(ifindex);
    }
}

void FastPath::placeEgressModules(const assemble::Plan& plan, Applied& applied) {
    for (auto& [ifindex, error] : egressModules_.place(plan, slots_, profiles_.custom())) {
        removeSlot(ifindex); // nothing leaves without the modules that it is to pass
        applied.failures.emplace(ifindex, error);
    }
    egressModules_.dropUnused();
}

std::optional<PlaceOfPort> FastPath::placeOf(model::IfIndex ifindex) const {
    const auto slot = slots_.slotOf(ifindex);
    if (!slot)
        return std::nullopt;
    return PlaceOfPort{*slot, attachments_.profileOn(ifindex) != nullptr};
}

Result<void> FastPath::addSlot(model::IfIndex ifindex, unsigned shortest) {
    if (slots_.slotOf(ifindex)) {
        if (slots_.alive(ifindex))
            return {};
        removeSlot(ifindex);
    }
    const auto given = slots_.add(ifindex, shortest);
    if (!given)
        return std::unexpected(given.error());
    if (given->usedBefore)
        counters_->startOver(given->slot);
    return {};
}

void FastPath::removeSlot(model::IfIndex ifindex) {
    fdb_->forget(ifindex); // before the slot can be another's
    slots_.remove(ifindex);
    egressModules_.forget(ifindex);
}

std::map<model::IfIndex, PortCounters> FastPath::counters() {
    const auto bySlot = counters_->read(slots_.end());
    std::map<model::IfIndex, PortCounters> byPort;
    for (const auto& [ifindex, slot] : slots_.all())
        byPort.emplace(ifindex, bySlot[slot]);
    return byPort;
}

std::map<model::IfIndex, std::uint64_t> FastPath::leftToLinux() const {
    std::map<model::IfIndex, std::uint64_t> byPort;
    for (const auto& [ifindex, slot] : slots_.all())
        byPort.emplace(ifindex, counters_->leftToLinux(slot));
    return byPort;
}

Result<std::unique_ptr<RefusalLog>> FastPath::watchRefusals() const {
    return Refusals::watch(*pipeline_, slots_.capacity());
}

Result<std::unique_ptr<ConnectionLearner>> FastPath::learnConnections() const {
    if (!casts_)
        return fail("connections are not learnt where the kernel is not read in place");
    // There are more connections than stations, and each of these packets is Linux's.
    return Learner::attach(*pipeline_, *casts_, net_, 4 * refresh_);
}

Result<std::unique_ptr<BridgeRuleLearner>> FastPath::learnBridgeRules() const {
    if (!casts_)
        return fail("what rules of bridges let pass is not learnt where the kernel is not read in place");
    return BridgeLearner::attach(*pipeline_, *casts_, net_, brNetfilter_);
}

Result<Verdict> FastPath::tryFrame(model::IfIndex port, const std::vector<std::uint8_t>& frame) const {
    const auto* profile = attachments_.profileOn(port);
    if (profile == nullptr || !slots_.slotOf(port) || !fdb_->seesEveryFrame())
        return fail("the port is not accelerated in place");
    return deploy::tryFrame(*pipeline_, profiles_, slots_, *profile, port, frame);
}

} // namespace tna::deploy
