// SPDX-License-Identifier: Apache-2.0
#include "deploy/ports/refusals.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <sys/stat.h>
#include <tna/fastpath.h>

#include "refusals.skel.h"

namespace tna::deploy {

namespace {
constexpr const char* purpose = "cannot look for frames that drivers refuse";

/// Shares what the pipeline has of ports.
bool share(const ::refusals& opened, const PipelineObject& pipeline, unsigned maxPorts) {
    return bpf_map__reuse_fd(opened.maps.data_home, pipeline.homeMap) == 0 &&
           bpf_map__reuse_fd(opened.maps.port_slots, pipeline.portSlots) == 0 &&
           (pipeline.watchedPorts < 0 ||
            bpf_map__reuse_fd(opened.maps.watched_ports, pipeline.watchedPorts) == 0) &&
           bpf_map__set_max_entries(opened.maps.refusals, maxPorts) == 0;
}
} // namespace

Result<std::unique_ptr<RefusalLog>> Refusals::watch(const PipelineObject& pipeline, unsigned maxPorts) {
    struct stat own{};
    if (::stat("/proc/thread-self/ns/net", &own) != 0)
        return failErrno(errno, purpose);
    auto* opened = ::refusals::open();
    Skeleton owned{opened, [](void* object) { ::refusals::destroy(static_cast<::refusals*>(object)); }};
    if (opened == nullptr)
        return failErrno(errno, purpose);
    opened->rodata->own_namespace = static_cast<__u32>(own.st_ino);
    if (!share(*opened, pipeline, maxPorts) || ::refusals::load(opened) != 0 ||
        ::refusals::attach(opened) != 0)
        return failErrno(errno, purpose);
    return std::unique_ptr<RefusalLog>(new Refusals(std::move(owned), bpf_map__fd(opened->maps.refusals)));
}

std::map<model::IfIndex, Refusal> Refusals::read() const {
    std::map<model::IfIndex, Refusal> all;
    __u32 key = 0;
    for (const __u32* last = nullptr; bpf_map_get_next_key(map_, last, &key) == 0; last = &key) {
        tna_refusal value{};
        if (bpf_map_lookup_elem(map_, &key, &value) == 0)
            all[key] = {value.frames, static_cast<int>(value.error), value.cpu};
    }
    return all;
}

void Refusals::forget(model::IfIndex ifindex) const {
    bpf_map_delete_elem(map_, &ifindex);
}

} // namespace tna::deploy
