// SPDX-License-Identifier: Apache-2.0
#include "deploy/trial.hpp"

#include <algorithm>
#include <bpf/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>

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

/// What a program is called with, of either kind.
struct Context {
    xdp_md xdp{};
    __sk_buff buffer{};
};

Result<int> runOn(assemble::Hook hook, int program, model::IfIndex port,
                  const std::vector<std::uint8_t>& frame, std::vector<std::uint8_t>& result) {
    const bool xdp = hook == assemble::Hook::xdp;
    Context context;
    context.xdp.data_end = static_cast<__u32>(frame.size());
    context.xdp.ingress_ifindex = port;
    context.buffer.ifindex = port;
    result.resize(frame.size() + room);
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.data(), .data_out = result.data(),
                .data_size_in = static_cast<__u32>(frame.size()),
                .data_size_out = static_cast<__u32>(result.size()), .repeat = 1);
    options.ctx_in = xdp ? static_cast<const void*>(&context.xdp) : &context.buffer;
    options.ctx_size_in = xdp ? sizeof(context.xdp) : sizeof(context.buffer);
    if (const int error = bpf_prog_test_run_opts(program, &options); error != 0)
        return failErrno(error, "the kernel does not run the port's program on a frame");
    result.resize(options.data_size_out);
    return static_cast<int>(options.retval);
}

/// Linux takes a tag out before the program is called, which nobody does for one that is run by hand.
bool isTagged(const std::vector<std::uint8_t>& frame) {
    constexpr std::size_t protocol = 12;
    if (frame.size() < protocol + 2)
        return false;
    const unsigned type = frame[protocol] << 8U | frame[protocol + 1];
    return type == ETH_P_8021Q || type == ETH_P_8021AD;
}

assemble::Profile forTrial(assemble::Profile profile) {
    profile.trial = true;
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
    if (profile.hook == assemble::Hook::tcx && isTagged(frame))
        return fail("a tagged frame cannot be tried at tcx, where Linux has taken the tag out before");
    const auto hook = profile.hook;
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
    const auto action = runOn(hook, program->get(), port, frame, verdict.frame);
    if (!action)
        return std::unexpected(action.error());
    CounterReader reader{{.ports = counters->get()}, slots.capacity()};
    if (auto followed = reader.follow(caches->counting()); !followed)
        return std::unexpected(followed.error());
    const auto counted = reader.read(slots.end());
    const int sent = hook == assemble::Hook::xdp ? static_cast<int>(XDP_REDIRECT) : TC_ACT_REDIRECT;
    for (const auto& [ifindex, number] : slots.all())
        if (*action == sent && counted[number].outPackets > 0)
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
