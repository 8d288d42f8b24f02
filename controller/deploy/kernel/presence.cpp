// SPDX-License-Identifier: Apache-2.0
#include "deploy/kernel/presence.hpp"

#include <bpf/bpf.h>

namespace tna::deploy {

Presence::~Presence() {
    if (map_)
        bpf_map_delete_elem(map_->get(), &key_);
}

bool Presence::lasts() const {
    __u32 ifindex = 0;
    return map_ && bpf_map_lookup_elem(map_->get(), &key_, &ifindex) == 0;
}

Result<Presences> Presences::make(unsigned most) {
    UniqueFd map{bpf_map_create(BPF_MAP_TYPE_DEVMAP_HASH, "tna_presences", sizeof(__u32), sizeof(__u32), most,
                                nullptr)};
    if (!map)
        return failErrno(errno, "cannot create the map of devices that are there");
    return Presences{std::move(map)};
}

Result<Presence> Presences::of(model::IfIndex ifindex) const {
    const __u32 key = ++*last_;
    const __u32 device = ifindex;
    if (bpf_map_update_elem(map_->get(), &key, &device, BPF_NOEXIST) != 0)
        return failErrno(errno, "cannot watch whether the device with index {} stays", ifindex);
    return Presence{map_, key};
}

} // namespace tna::deploy
