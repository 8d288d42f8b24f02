// SPDX-License-Identifier: Apache-2.0
#include "deploy/trial.hpp"

#include <algorithm>
#include <bpf/bpf.h>

namespace tna::deploy {

namespace {
constexpr std::size_t room = 256; ///< for a frame that grows

Result<UniqueFd> makeCounters(unsigned slots) {
    UniqueFd map{bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "tna_trial", sizeof(__u32),
                                sizeof(tna_port_counters), slots, nullptr)};
    if (!map)
        return failErrno(errno, "cannot create the counters of a trial");
    return map;
}

Result<int> runOn(int program, model::IfIndex port, const std::vector<std::uint8_t>& frame,
                  std::vector<std::uint8_t>& result) {
    xdp_md context{};
    context.data_end = static_cast<__u32>(frame.size());
    context.ingress_ifindex = port;
    result.resize(frame.size() + room);
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.data(), .data_out = result.data(),
                .data_size_in = static_cast<__u32>(frame.size()),
                .data_size_out = static_cast<__u32>(result.size()), .ctx_in = &context,
                .ctx_size_in = sizeof(context), .repeat = 1);
    if (const int error = bpf_prog_test_run_opts(program, &options); error != 0)
        return failErrno(error, "the kernel does not run the port's program on a frame");
    result.resize(options.data_size_out);
    return static_cast<int>(options.retval);
}

assemble::Profile forTrial(assemble::Profile profile) {
    profile.veth = false; // what a sender has left unfinished would lie beside the frame
    profile.custom = {};  // they would count it, and remember it
    for (auto& module : profile.modules)
        for (const auto& parameter : assemble::manifestOf(module.name).notInTrials)
            module.parameters.erase(parameter);
    return profile;
}
} // namespace

Result<Verdict> tryFrame(const PipelineObject& pipeline, const ProfileStore& profiles, const SlotTable& slots,
                         assemble::Profile profile, model::IfIndex port,
                         const std::vector<std::uint8_t>& frame) {
    const auto slot = slots.slotOf(port);
    if (!slot)
        return fail("the port has no place in the port table");
    auto counters = makeCounters(slots.capacity());
    if (!counters)
        return std::unexpected(counters.error());
    auto caches = FlowCache::create(1, 0);
    if (!caches)
        return std::unexpected(caches.error());
    const auto program =
        profiles.loadApart(forTrial(std::move(profile)), *caches, {{pipeline.portCounters, counters->get()}});
    if (!program)
        return std::unexpected(program.error());
    Verdict verdict;
    const auto action = runOn(program->get(), port, frame, verdict.frame);
    if (!action)
        return std::unexpected(action.error());
    CounterReader reader{{.ports = counters->get()}, slots.capacity()};
    if (auto followed = reader.follow(caches->counting()); !followed)
        return std::unexpected(followed.error());
    const auto counted = reader.read(slots.end());
    for (const auto& [ifindex, number] : slots.all())
        if (*action == XDP_REDIRECT && counted[number].outPackets > 0)
            verdict.egress = ifindex;
    const auto& slow = counted[*slot].slow;
    if (const auto reason = std::ranges::find_if(slow, [](auto count) { return count > 0; });
        reason != slow.end()) {
        const auto index = static_cast<unsigned>(reason - slow.begin());
        verdict.code = reasonCode(index);
        verdict.text = reasonText(index);
    }
    return verdict;
}

} // namespace tna::deploy
