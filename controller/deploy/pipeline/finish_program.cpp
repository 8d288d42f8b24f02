// SPDX-License-Identifier: Apache-2.0
#include "deploy/pipeline/finish_program.hpp"

#include "deploy/kernel/requirements.hpp"

#include <bpf/bpf.h>
#include <tna/fastpath.h>

#include "finish.skel.h"

namespace tna::deploy {

Result<FinishProgram> FinishProgram::load(const PipelineObject& pipeline) {
    Skeleton opened{finish__open(), finish__destroy};
    if (!opened || bpf_map__reuse_fd(opened->maps.port_counters, pipeline.portCounters) != 0 ||
        bpf_map__reuse_fd(opened->maps.port_slots, pipeline.portSlots) != 0 ||
        bpf_map__reuse_fd(opened->maps.egress_ports, pipeline.egressPorts) != 0 ||
        bpf_map__reuse_fd(opened->maps.decision, pipeline.decision) != 0 ||
        bpf_program__set_flags(opened->progs.finish, programFlags(pipeline.buffers)) != 0 ||
        finish__load(opened.get()) != 0)
        return std::unexpected(
            explainRefusal("cannot load what follows custom modules", errno, thisMachine(), "5.15"));
    ProgramTemplate copied{opened->progs.finish, pipeline.buffers};
    return FinishProgram{std::move(opened), std::move(copied)};
}

int FinishProgram::program() const {
    return bpf_program__fd(skeleton_->progs.finish);
}

} // namespace tna::deploy
