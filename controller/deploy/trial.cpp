// SPDX-License-Identifier: Apache-2.0
// Frames that the fast path is asked about: the port's own program, with memory of its own.
#include "deploy/fast_path.hpp"

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
} // namespace

Result<Verdict> FastPath::tryFrame(model::IfIndex port, const std::vector<std::uint8_t>& frame) const {
    const auto placed = placed_.find(port);
    const auto slot = slots_.find(port);
    if (placed == placed_.end() || slot == slots_.end() || !fdb_->seesEveryFrame())
        return fail("the port is not accelerated in place");
    auto counters = makeCounters(limits_.maxPorts);
    if (!counters)
        return std::unexpected(counters.error());
    auto flows = FlowCache::create(1, 0);
    if (!flows)
        return std::unexpected(flows.error());
    auto profile = placed->second;
    profile.veth = false; // what a sender has left unfinished would lie beside the frame
    profile.custom = {};  // they would count it, and remember it
    for (auto& module : profile.modules)
        for (const auto& parameter : assemble::manifestOf(module.name).notInTrials)
            module.parameters.erase(parameter);
    auto replaced = flows->replacements(profile, pipeline_);
    if (!replaced)
        return std::unexpected(replaced.error());
    replaced->emplace(pipeline_.portCounters, counters->get());
    const auto program = pipelineTemplate_.load(*replaced, constantsOf(profile, flows->sizes()));
    if (!program)
        return std::unexpected(program.error());
    Verdict verdict;
    const auto action = runOn(program->get(), port, frame, verdict.frame);
    if (!action)
        return std::unexpected(action.error());
    CounterReader reader{{.ports = counters->get()}, limits_.maxPorts};
    if (auto followed = reader.follow(flows->counting()); !followed)
        return std::unexpected(followed.error());
    const auto counted = reader.read(nextSlot_);
    for (const auto& [ifindex, number] : slots_)
        if (*action == XDP_REDIRECT && counted[number].outPackets > 0)
            verdict.egress = ifindex;
    const auto& slow = counted[slot->second].slow;
    if (const auto reason = std::ranges::find_if(slow, [](auto count) { return count > 0; });
        reason != slow.end()) {
        const auto index = static_cast<unsigned>(reason - slow.begin());
        verdict.code = reasonCode(index);
        verdict.text = reasonText(index);
    }
    return verdict;
}

} // namespace tna::deploy
