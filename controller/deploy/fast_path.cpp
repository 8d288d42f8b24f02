// SPDX-License-Identifier: Apache-2.0
#include "deploy/fast_path.hpp"

#include "deploy/requirements.hpp"

#include <algorithm>
#include <bpf/bpf.h>
#include <ctime>
#include <spdlog/spdlog.h>

#include "entry.skel.h"
#include "finish.skel.h"

namespace tna::deploy {

namespace {
Error loadError(const char* what) {
    return explainRefusal(fmt::format("cannot load {}", what), errno, thisMachine(), "5.15");
}

::entry* loadEntry(Buffers buffers) {
    std::unique_ptr<::entry, void (*)(::entry*)> opened{entry__open(), entry__destroy};
    if (!opened || bpf_program__set_flags(opened->progs.entry, programFlags(buffers)) != 0 ||
        entry__load(opened.get()) != 0)
        return nullptr;
    return opened.release();
}

/// The kernel's ticks, which are as long as the coarse clock is exact (CONFIG_HZ).
std::uint64_t jiffiesIn(std::chrono::nanoseconds time) {
    timespec tick{};
    if (::clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0 || tick.tv_nsec <= 0)
        tick.tv_nsec = 10'000'000;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(1, time.count() / tick.tv_nsec));
}

/// What the kernel calls directly (BPF_DISPATCHER_MAX is 48), less the shared entry. Further ports keep the
/// shared one: calling it is faster than calling one that found no room, and where there is no room nothing
/// waits when they change.
constexpr std::ptrdiff_t mostOwnEntries = 47;
} // namespace

Result<std::unique_ptr<FastPath>> FastPath::load(const Limits& limits, const NamespaceFacts& facts,
                                                 const HookFunctions& hooks, Casts casts) {
    auto pipeline = PipelineObject::load(casts, limits.maxPorts);
    if (!pipeline)
        return std::unexpected(pipeline.error());
    Constants constants{};
    constants[TNA_CONSTANT_NET] = facts.net;
    constants[TNA_CONSTANT_BRNF] = facts.brNetfilter;
    constants[TNA_CONSTANT_PACKED] = facts.packed;
    std::ranges::copy(hooks, &constants[TNA_CONSTANT_HOOK_PRE]);
    constants[TNA_CONSTANT_REFRESH] = jiffiesIn(limits.refresh);
    constants[TNA_CONSTANT_SELF_CHECK] = limits.selfCheck;
    return make(limits, std::move(*pipeline), constants, readFdbInPlace());
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
                                                 Constants constants, std::unique_ptr<FdbAccess> fdb) {
    auto flows = FlowCache::create(limits.flowsPerCpu, limits.destinations);
    if (!flows)
        return std::unexpected(flows.error());
    CounterReader counters{{pipeline.portCounters, pipeline.decision}, limits.maxPorts};
    if (auto followed = counters.follow(flows->counting()); !followed)
        return std::unexpected(followed.error());
    auto passAll = loadPassAll(pipeline.buffers);
    if (!passAll)
        return std::unexpected(passAll.error());
    ::entry* entry = loadEntry(pipeline.buffers);
    if (entry == nullptr)
        return std::unexpected(loadError("the entry program"));
    ::finish* finish = loadFinish(pipeline);
    if (finish == nullptr)
        return std::unexpected(loadError("what follows custom modules"));
    return std::unique_ptr<FastPath>{new FastPath(std::move(pipeline), entry, finish, constants, limits,
                                                  std::move(*flows), std::move(counters), std::move(*passAll),
                                                  std::move(fdb))};
}

FastPath::FastPath(PipelineObject pipeline, ::entry* entry, ::finish* finish, Constants constants,
                   Limits limits, FlowCache flows, CounterReader counters, UniqueFd passAll,
                   std::unique_ptr<FdbAccess> fdb)
    : pipeline_(std::move(pipeline)), entry_(entry), finish_(finish),
      pipelineTemplate_(pipeline_.program, pipeline_.buffers, pipeline_.moduleBtf.get()),
      entryTemplate_(entry->progs.entry, pipeline_.buffers),
      finishTemplate_(finish->progs.finish, pipeline_.buffers), constants_(constants), limits_(limits),
      flows_(std::move(flows)), fdb_(std::move(fdb)), counterReader_(std::move(counters)),
      passAll_(std::move(passAll)) {}

FastPath::~FastPath() {
    attachments_.clear();
    sharedEntries_.clear();
    profiles_.clear();
    entry__destroy(entry_);
    unloadFinish(finish_);
}

Constants FastPath::constantsOf(const assemble::Profile& profile, const assemble::CacheSizes& sizes) const {
    auto constants = constants_;
    for (const auto& [constant, value] : assemble::constantsOf(profile, sizes))
        constants[constant] = value;
    constants[TNA_CONSTANT_MODULES_CHANGE] = 1;
    constants[TNA_CONSTANT_MODULES_ASK] = 1;
    return constants;
}

Result<Instructions> FastPath::pipelineOf(const assemble::Profile& profile, const Constants& constants,
                                          std::map<int, int> replacedMaps) {
    auto replaced = flows_.replacements(profile, pipeline_);
    if (!replaced)
        return std::unexpected(replaced.error());
    replaced->merge(replacedMaps);
    if (auto followed = counterReader_.follow(flows_.counting()); !followed)
        return std::unexpected(followed.error());
    return pipelineTemplate_.instructions(*replaced, constants);
}

Result<int> FastPath::program(const assemble::Profile& profile) {
    if (const auto it = profiles_.find(profile); it != profiles_.end())
        return it->second.head();
    auto loaded = loadProfile(profile);
    if (!loaded)
        return std::unexpected(loaded.error());
    return profiles_.emplace(profile, std::move(*loaded)).first->second.head();
}

void FastPath::dropUnplanned(const assemble::Plan& plan, Applied& applied) {
    std::erase_if(attachments_, [&](const auto& item) {
        const auto it = plan.ports.find(item.first);
        const bool keep =
            it != plan.ports.end() && (it->second.profile || it->second.standby) && item.second.alive();
        if (!keep) {
            placed_.erase(item.first);
            applied.detached++;
        }
        return !keep;
    });
    for (auto it = attachments_.begin(); it != attachments_.end();) {
        const bool toEmpty = !plan.ports.at(it->first).profile && placed_.erase(it->first) > 0;
        it = toEmpty && !emptied(it->second, applied) ? attachments_.erase(it) : std::next(it);
    }
    std::vector<model::IfIndex> gone;
    for (const auto& [ifindex, slot] : slots_)
        if (const auto it = plan.ports.find(ifindex);
            it == plan.ports.end() || (!it->second.egress && !it->second.profile) || !slotFits(it->second))
            gone.push_back(ifindex);
    for (const auto ifindex : gone)
        removeSlot(ifindex);
}

Result<const Entry*> FastPath::sharedEntry(const assemble::Profile& profile, int program) {
    if (const auto it = sharedEntries_.find(profile); it != sharedEntries_.end())
        return &it->second;
    auto entry = Entry::load(entryTemplate_, bpf_map__fd(entry_->maps.profile));
    if (!entry)
        return std::unexpected(entry.error());
    if (auto set = entry->setProfile(program); !set)
        return std::unexpected(set.error());
    return &sharedEntries_.emplace(profile, std::move(*entry)).first->second;
}

Result<void> FastPath::takeOwnEntry(PortAttachment& attachment, int program) {
    auto entry = Entry::load(entryTemplate_, bpf_map__fd(entry_->maps.profile));
    if (!entry)
        return std::unexpected(entry.error());
    if (auto set = entry->setProfile(program); !set)
        return set;
    return attachment.takeOwnEntry(std::move(*entry));
}

/// Leaves a port's frames to Linux, still attached; false where only detaching does it.
bool FastPath::emptied(PortAttachment& attachment, Applied& applied) {
    applied.swapped++;
    const auto* own = attachment.ownEntry();
    const auto done =
        own != nullptr ? own->setProfile(passAll_.get()) : takeOwnEntry(attachment, passAll_.get());
    if (!done)
        spdlog::debug("{}", done.error().sentence());
    return done.has_value();
}

/// The attachment of a port that has none yet starts with the entry of its profile.
Result<PortAttachment*> FastPath::attachment(const assemble::PortPlan& port, const model::Link& link,
                                             Applied& applied) {
    if (const auto it = attachments_.find(port.ifindex); it != attachments_.end())
        return &it->second;
    const auto profileProgram = program(*port.profile);
    if (!profileProgram)
        return std::unexpected(profileProgram.error());
    const auto entry = sharedEntry(*port.profile, *profileProgram);
    if (!entry)
        return std::unexpected(entry.error());
    auto adopted = adopt(port.ifindex, **entry);
    auto attached = adopted ? std::move(*adopted) : PortAttachment::attach(**entry, link);
    if (!attached)
        return std::unexpected(attached.error());
    applied.attached++;
    applied.swapped++;
    placed_[port.ifindex] = *port.profile;
    return &attachments_.emplace(port.ifindex, std::move(*attached)).first->second;
}

Result<void> FastPath::place(const assemble::PortPlan& port, const model::Link& link, Applied& applied) {
    const auto attached = attachment(port, link, applied);
    if (!attached)
        return std::unexpected(attached.error());
    if (const auto current = placed_.find(port.ifindex);
        current != placed_.end() && current->second == *port.profile)
        return {};
    const auto profileProgram = program(*port.profile);
    if (!profileProgram)
        return std::unexpected(profileProgram.error());
    const auto* own = (*attached)->ownEntry();
    if (auto set =
            own != nullptr ? own->setProfile(*profileProgram) : takeOwnEntry(**attached, *profileProgram);
        !set)
        return set;
    placed_[port.ifindex] = *port.profile;
    applied.swapped++;
    return {};
}

bool FastPath::settled() const {
    if (cannotSettle_)
        return true;
    const auto own =
        std::ranges::count_if(attachments_, [](const auto& item) { return item.second.hasOwnEntry(); });
    return own >= mostOwnEntries || static_cast<std::size_t>(own) == attachments_.size();
}

void FastPath::settleNext() {
    const auto next =
        std::ranges::find_if(attachments_, [](const auto& item) { return !item.second.hasOwnEntry(); });
    if (next == attachments_.end())
        return;
    // An empty port has its own by then.
    if (auto taken = takeOwnEntry(next->second, profiles_.at(placed_.at(next->first)).head()); !taken) {
        spdlog::debug("{}", taken.error().sentence());
        cannotSettle_ = true;
    }
}

void FastPath::dropUnusedProfiles(const assemble::Plan& plan) {
    std::erase_if(profiles_, [&](const auto& item) {
        return std::ranges::none_of(plan.ports,
                                    [&](const auto& port) { return port.second.profile == item.first; });
    });
    std::erase_if(sharedEntries_, [&](const auto& item) { return !profiles_.contains(item.first); });
}

Applied FastPath::apply(const assemble::Plan& plan, const model::Network& network) {
    Applied applied;
    dropUnplanned(plan, applied);
    const auto findPlace = [&](model::IfIndex ifindex) { return placeOf(ifindex); };
    fdb_->tell(plan, findPlace, applied); // first, for what must not go on; and for the new ones at the end
    for (const auto& [ifindex, port] : plan.ports)
        if (port.egress || port.profile)
            if (auto added = addSlot(ifindex, shortestOut(port)); !added)
                applied.failures.emplace(ifindex, added.error());
    for (const auto& [ifindex, port] : plan.ports) {
        const auto* link = network.link(ifindex);
        if (!port.profile || link == nullptr)
            continue;
        if (!applied.failures.contains(ifindex))
            if (auto placed = place(port, *link, applied); !placed)
                applied.failures.emplace(ifindex, placed.error());
        // What cannot be as it should be is left to Linux, not to an older plan.
        if (applied.failures.contains(ifindex)) {
            attachments_.erase(ifindex);
            placed_.erase(ifindex);
        }
    }
    inherited_.clear();
    placeEgressModules(plan, applied);
    dropUnusedProfiles(plan);
    fdb_->tell(plan, findPlace, applied);
    return applied;
}

std::optional<PlaceOfPort> FastPath::placeOf(model::IfIndex ifindex) const {
    const auto slot = slots_.find(ifindex);
    if (slot == slots_.end())
        return std::nullopt;
    return PlaceOfPort{slot->second, placed_.contains(ifindex)};
}

std::map<model::IfIndex, PortCounters> FastPath::counters() {
    const auto bySlot = counterReader_.read(nextSlot_);
    std::map<model::IfIndex, PortCounters> byPort;
    for (const auto& [ifindex, slot] : slots_)
        byPort.emplace(ifindex, bySlot[slot]);
    return byPort;
}

} // namespace tna::deploy
