// SPDX-License-Identifier: Apache-2.0
#include "deploy/pipeline/pipeline_object.hpp"

#include "deploy/kernel/kfunc.hpp"
#include "deploy/kernel/requirements.hpp"
#include "deploy/programs/function_places.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <tna/fastpath.h>

#include "pipeline.skel.h"
#include "pipeline_tcx.skel.h"
#include "pipeline_tcx_typed.skel.h"
#include "pipeline_typed.skel.h"
#include "watched.skel.h"
#include "watched_kfunc.skel.h"

namespace tna::deploy {

namespace {
Error refused(const char* needed) {
    return explainRefusal("cannot load the pipeline", errno, thisMachine(), needed);
}

constexpr const char* forReadingInPlace = "6.6";
constexpr const char* forWatching = "5.15";

/// Opened, with what all pipelines have made as large as needed.
template <typename Generated>
Result<PipelineObject> openGenerated(Generated*& skeleton, unsigned maxPorts, const char* needed) {
    noteFunctionPlaces();
    skeleton = Generated::open();
    PipelineObject object{
        {skeleton, [](void* owned) { Generated::destroy(static_cast<Generated*>(owned)); }}};
    if (skeleton == nullptr || bpf_map__set_max_entries(skeleton->maps.port_counters, maxPorts) != 0 ||
        bpf_map__set_max_entries(skeleton->maps.port_slots, maxPorts) != 0 ||
        bpf_map__set_max_entries(skeleton->maps.egress_ports, maxPorts) != 0)
        return std::unexpected(refused(needed));
    return object;
}

template <typename Generated>
bool loadOpened(Generated* skeleton, PipelineObject& object) {
    if (Generated::load(skeleton) != 0)
        return false;
    object.program = skeleton->progs.pipeline;
    object.home = &skeleton->data_home->home;
    object.homeMap = bpf_map__fd(skeleton->maps.data_home);
    object.portCounters = bpf_map__fd(skeleton->maps.port_counters);
    object.portSlots = bpf_map__fd(skeleton->maps.port_slots);
    object.egressPorts = bpf_map__fd(skeleton->maps.egress_ports);
    object.decision = bpf_map__fd(skeleton->maps.decision);
    const bpf_map* map = nullptr;
    bpf_object__for_each_map(map, skeleton->obj) object.maps.emplace(bpf_map__name(map), bpf_map__fd(map));
    return true;
}

template <typename Generated>
Result<PipelineObject> loadGenerated(unsigned maxPorts, unsigned maxConnections) {
    Generated* skeleton = nullptr;
    auto object = openGenerated(skeleton, maxPorts, forReadingInPlace);
    if (!object)
        return object;
    if (bpf_map__set_max_entries(skeleton->maps.lessons, 2 * maxConnections) != 0 ||
        bpf_map__set_max_entries(skeleton->maps.lessons6, 2 * maxConnections) != 0 ||
        bpf_map__set_max_entries(skeleton->maps.bridge_lessons, maxConnections) != 0 ||
        bpf_map__set_max_entries(skeleton->maps.streams, maxConnections) != 0 ||
        !loadOpened(skeleton, *object))
        return std::unexpected(refused(forReadingInPlace));
    // Where there is none, no program calls it.
    if (auto kfunc = findKfunc("bpf_xdp_flow_lookup"))
        object->moduleBtf = std::move(kfunc->moduleBtf);
    return object;
}

template <typename Generated>
Result<PipelineObject> loadBeside(unsigned maxPorts, const PipelineObject& other) {
    Generated* skeleton = nullptr;
    auto object = openGenerated(skeleton, maxPorts, forReadingInPlace);
    if (!object)
        return object;
    if (bpf_map__reuse_fd(skeleton->maps.data_altered, other.cache("altered")) != 0 ||
        bpf_map__reuse_fd(skeleton->maps.data_rules, other.cache("rules")) != 0 ||
        bpf_map__reuse_fd(skeleton->maps.lessons, other.map("lessons")) != 0 ||
        bpf_map__reuse_fd(skeleton->maps.lessons6, other.map("lessons6")) != 0 ||
        bpf_map__reuse_fd(skeleton->maps.streams, other.map("streams")) != 0 ||
        bpf_map__reuse_fd(skeleton->maps.data_bridge_rules, other.cache("bridge_rules")) != 0 ||
        bpf_map__reuse_fd(skeleton->maps.bridge_lessons, other.map("bridge_lessons")) != 0 ||
        !loadOpened(skeleton, *object))
        return std::unexpected(refused(forReadingInPlace));
    object->hook = assemble::Hook::tcx;
    return object;
}
} // namespace

int PipelineObject::map(const std::string& name) const {
    const auto it = maps.find(name);
    return it == maps.end() ? -1 : it->second;
}

void PipelineObject::forgetFlows() const {
    __atomic_add_fetch(&home->epoch, 1, __ATOMIC_SEQ_CST);
}

Result<PipelineObject> PipelineObject::load(Casts casts, unsigned maxPorts, unsigned maxConnections) {
    return casts == Casts::untyped ? loadGenerated<::pipeline>(maxPorts, maxConnections)
                                   : loadGenerated<::pipeline_typed>(maxPorts, maxConnections);
}

Result<PipelineObject> PipelineObject::loadTcx(Casts casts, unsigned maxPorts, const PipelineObject& other) {
    auto object = casts == Casts::untyped ? loadBeside<::pipeline_tcx>(maxPorts, other)
                                          : loadBeside<::pipeline_tcx_typed>(maxPorts, other);
    if (object)
        object->casts = casts;
    return object;
}

Result<PipelineObject> PipelineObject::loadWatched(unsigned maxPorts, unsigned maxStations, Buffers buffers) {
    ::watched* skeleton = nullptr;
    auto object = openGenerated(skeleton, maxPorts, forWatching);
    if (!object)
        return object;
    if (bpf_map__set_max_entries(skeleton->maps.watched_ports, maxPorts) != 0 ||
        bpf_map__set_max_entries(skeleton->maps.watched_vlans, maxPorts) != 0 ||
        bpf_map__set_max_entries(skeleton->maps.stations, maxStations) != 0 ||
        bpf_map__set_max_entries(skeleton->maps.station_uses, maxStations) != 0 ||
        bpf_program__set_flags(skeleton->progs.pipeline, programFlags(buffers)) != 0 ||
        !loadOpened(skeleton, *object))
        return std::unexpected(refused(forWatching));
    object->buffers = buffers;
    object->watchedPorts = bpf_map__fd(skeleton->maps.watched_ports);
    object->watchedVlans = bpf_map__fd(skeleton->maps.watched_vlans);
    object->stations = bpf_map__fd(skeleton->maps.stations);
    object->stationUses = bpf_map__fd(skeleton->maps.station_uses);
    return object;
}

Result<PipelineObject> PipelineObject::loadAsking(unsigned maxPorts) {
    auto kfunc = findKfunc("bpf_xdp_br_fdb_lookup");
    if (!kfunc)
        return std::unexpected(kfunc.error());
    ::watched_kfunc* skeleton = nullptr;
    auto object = openGenerated(skeleton, maxPorts, forWatching);
    if (!object)
        return object;
    if (bpf_map__set_max_entries(skeleton->maps.watched_ports, maxPorts) != 0 ||
        bpf_map__set_max_entries(skeleton->maps.watched_vlans, maxPorts) != 0 ||
        bpf_program__set_flags(skeleton->progs.pipeline, programFlags(object->buffers)) != 0 ||
        !loadOpened(skeleton, *object))
        return std::unexpected(refused(forWatching));
    object->watchedPorts = bpf_map__fd(skeleton->maps.watched_ports);
    object->watchedVlans = bpf_map__fd(skeleton->maps.watched_vlans);
    object->moduleBtf = std::move(kfunc->moduleBtf);
    return object;
}

} // namespace tna::deploy
