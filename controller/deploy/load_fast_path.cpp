// SPDX-License-Identifier: Apache-2.0
#include "deploy/load_fast_path.hpp"

#include "deploy/connections/pipeline_rule_learning.hpp"

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

/// `learning`: how it learns from rules, of the pipeline at the place where it stays.
Result<std::unique_ptr<FastPath>> putTogether(const Limits& limits, std::unique_ptr<PipelineObject> pipeline,
                                              const Constants& constants, std::unique_ptr<FdbAccess> fdb,
                                              std::unique_ptr<RuleLearning> learning) {
    auto caches = FlowCache::create(limits.flowsPerCpu, limits.destinations);
    if (!caches)
        return std::unexpected(caches.error());
    auto counters = std::make_unique<CounterReader>(CounterMaps{pipeline->portCounters, pipeline->decision},
                                                    limits.maxPorts);
    if (auto followed = counters->follow(caches->counting()); !followed)
        return std::unexpected(followed.error());
    auto presences =
        Presences::make(4 * limits.maxPorts); // of slots, and of attachments, of which some have none
    if (!presences)
        return std::unexpected(presences.error());
    auto finish = FinishProgram::load(*pipeline);
    if (!finish)
        return std::unexpected(finish.error());
    auto profiles = std::make_unique<ProfileStore>(*pipeline, constants, std::move(*finish),
                                                   std::move(*caches), *counters);
    auto attachments = Attachments::make(pipeline->hook, pipeline->buffers, *presences, *profiles);
    if (!attachments)
        return std::unexpected(attachments.error());
    KnownPorts ports{*pipeline, limits.maxPorts, std::move(*presences), *counters, *fdb};
    return std::make_unique<FastPath>(FastPathParts{std::move(pipeline), std::move(counters), std::move(fdb),
                                                    std::move(profiles), std::move(learning),
                                                    std::move(ports), std::move(*attachments)});
}

Result<std::unique_ptr<FastPath>> loadInPlace(const Limits& limits, const NamespaceFacts& facts,
                                              const HookFunctions& hooks, Casts casts,
                                              Result<PipelineObject> loaded) {
    if (!loaded)
        return std::unexpected(loaded.error());
    Constants constants{};
    constants[TNA_CONSTANT_NET] = facts.net;
    constants[TNA_CONSTANT_BRNF] = facts.brNetfilter;
    constants[TNA_CONSTANT_PACKED] = facts.packed;
    std::ranges::copy(hooks, &constants[TNA_CONSTANT_HOOK_PRE]);
    constants[TNA_CONSTANT_REFRESH] = jiffiesIn(limits.refresh);
    constants[TNA_CONSTANT_SELF_CHECK] = limits.selfCheck;
    if (loaded->hook == assemble::Hook::xdp)
        constants[TNA_CONSTANT_TCX_ENTRY] = EntryPrograms::tagAtTcx();
    auto pipeline = std::make_unique<PipelineObject>(std::move(*loaded));
    // There are more connections than stations, and each of these packets is Linux's.
    auto learning =
        std::make_unique<PipelineRuleLearning>(*pipeline, casts, facts, 4 * jiffiesIn(limits.refresh));
    return putTogether(limits, std::move(pipeline), constants, readFdbInPlace(), std::move(learning));
}

Result<std::unique_ptr<FastPath>> putTogetherWatched(const Limits& limits, PipelineObject pipeline,
                                                     const Constants& constants,
                                                     std::unique_ptr<FdbAccess> fdb) {
    return putTogether(limits, std::make_unique<PipelineObject>(std::move(pipeline)), constants,
                       std::move(fdb), std::make_unique<NoRuleLearning>());
}
} // namespace

Result<std::unique_ptr<FastPath>> loadFastPath(const Limits& limits, const NamespaceFacts& facts,
                                               const HookFunctions& hooks, Casts casts) {
    return loadInPlace(limits, facts, hooks, casts,
                       PipelineObject::load(casts, limits.maxPorts, limits.connections));
}

Result<std::unique_ptr<FastPath>> loadFastPathAtTcx(const Limits& limits, const NamespaceFacts& facts,
                                                    const HookFunctions& hooks, Casts casts,
                                                    const FastPath& other) {
    return loadInPlace(limits, facts, hooks, casts,
                       PipelineObject::loadTcx(casts, limits.maxPorts, other.pipeline()));
}

Result<std::unique_ptr<FastPath>> loadWatchedFastPath(const Limits& limits, Buffers buffers) {
    auto pipeline = PipelineObject::loadWatched(limits.maxPorts, limits.maxStations, buffers);
    if (!pipeline)
        return std::unexpected(pipeline.error());
    auto fdb = mirrorFdb(*pipeline, limits.maxPorts, limits.maxStations);
    if (!fdb)
        return std::unexpected(fdb.error());
    Constants constants{};
    constants[TNA_CONSTANT_SINGLE_BUFFER] = buffers == Buffers::single;
    return putTogetherWatched({limits.maxPorts, 1, limits.maxStations}, std::move(*pipeline), constants,
                              std::move(*fdb));
}

Result<std::unique_ptr<FastPath>> loadAskingFastPath(const Limits& limits) {
    auto pipeline = PipelineObject::loadAsking(limits.maxPorts);
    if (!pipeline)
        return std::unexpected(pipeline.error());
    auto fdb = askBridge(*pipeline, limits.maxPorts);
    if (!fdb)
        return std::unexpected(fdb.error());
    return putTogetherWatched({limits.maxPorts, 1, 0}, std::move(*pipeline), {}, std::move(*fdb));
}

} // namespace tna::deploy
