// SPDX-License-Identifier: Apache-2.0
#include "deploy/pipeline_object.hpp"

#include "deploy/requirements.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <tna/fastpath.h>

#include "pipeline.skel.h"
#include "pipeline_typed.skel.h"

namespace tna::deploy {

namespace {
template <typename Generated>
Result<PipelineObject> loadGenerated(unsigned maxPorts) {
    auto* skeleton = Generated::open();
    PipelineObject object{
        {skeleton, [](void* owned) { Generated::destroy(static_cast<Generated*>(owned)); }}};
    if (skeleton == nullptr || bpf_map__set_max_entries(skeleton->maps.port_counters, maxPorts) != 0 ||
        bpf_map__set_max_entries(skeleton->maps.port_slots, maxPorts) != 0 ||
        bpf_map__set_max_entries(skeleton->maps.egress_ports, maxPorts) != 0 ||
        Generated::load(skeleton) != 0)
        return std::unexpected(explainRefusal("cannot load the pipeline", errno, thisMachine()));
    object.program = skeleton->progs.pipeline;
    object.home = &skeleton->bss->home;
    object.portCounters = bpf_map__fd(skeleton->maps.port_counters);
    object.portSlots = bpf_map__fd(skeleton->maps.port_slots);
    object.egressPorts = bpf_map__fd(skeleton->maps.egress_ports);
    object.flows = bpf_map__fd(skeleton->maps.data_flows);
    object.routes = bpf_map__fd(skeleton->maps.data_routes);
    return object;
}
} // namespace

Result<PipelineObject> PipelineObject::load(Casts casts, unsigned maxPorts) {
    return casts == Casts::untyped ? loadGenerated<::pipeline>(maxPorts)
                                   : loadGenerated<::pipeline_typed>(maxPorts);
}

} // namespace tna::deploy
