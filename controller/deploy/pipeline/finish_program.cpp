// SPDX-License-Identifier: Apache-2.0
#include "deploy/pipeline/finish_program.hpp"

#include "deploy/kernel/requirements.hpp"

#include <bpf/bpf.h>
#include <tna/fastpath.h>

#include "finish.skel.h"
#include "finish_tcx.skel.h"
#include "finish_tcx_typed.skel.h"

namespace tna::deploy {

template <typename Generated>
Result<FinishProgram> FinishProgram::loadGenerated(const PipelineObject& pipeline) {
    auto* opened = Generated::open();
    Skeleton owner{opened, [](void* owned) { Generated::destroy(static_cast<Generated*>(owned)); }};
    const bool xdp = pipeline.hook == assemble::Hook::xdp;
    if (opened == nullptr || bpf_map__reuse_fd(opened->maps.port_counters, pipeline.portCounters) != 0 ||
        bpf_map__reuse_fd(opened->maps.port_slots, pipeline.portSlots) != 0 ||
        bpf_map__reuse_fd(opened->maps.egress_ports, pipeline.egressPorts) != 0 ||
        bpf_map__reuse_fd(opened->maps.decision, pipeline.decision) != 0 ||
        (!xdp && (bpf_map__reuse_fd(opened->maps.translation, pipeline.map("translation")) != 0 ||
                  bpf_map__reuse_fd(opened->maps.data_altered, pipeline.cache("altered")) != 0)) ||
        (xdp && bpf_program__set_flags(opened->progs.finish, programFlags(pipeline.buffers)) != 0) ||
        Generated::load(opened) != 0)
        return std::unexpected(
            explainRefusal("cannot load what follows custom modules", errno, thisMachine(), "5.15"));
    ProgramTemplate copied{opened->progs.finish, pipeline.buffers};
    return FinishProgram{std::move(owner), std::move(copied)};
}

Result<FinishProgram> FinishProgram::load(const PipelineObject& pipeline) {
    if (pipeline.hook == assemble::Hook::xdp)
        return loadGenerated<::finish>(pipeline);
    return pipeline.casts == Casts::untyped ? loadGenerated<::finish_tcx>(pipeline)
                                            : loadGenerated<::finish_tcx_typed>(pipeline);
}

} // namespace tna::deploy
