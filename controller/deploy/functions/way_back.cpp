// SPDX-License-Identifier: Apache-2.0
#include "deploy/functions/way_back.hpp"

#include "back.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <linux/if_link.h>

namespace tna::deploy {

namespace {
/// The rules and the sockets are those of steering.
bool shareMaps(bpf_object* object, const Steering& steering) {
    bpf_map* map = nullptr;
    bpf_object__for_each_map(map, object) {
        const std::string name = bpf_map__name(map);
        if (name.starts_with("steer_") && bpf_map__reuse_fd(map, steering.module()->mapFd(name)) != 0)
            return false;
    }
    return true;
}
} // namespace

Result<WayBack> WayBack::attach(unsigned ifindex, const Steering& steering) {
    constexpr const char* what = "cannot make the way back to Linux for network functions";
    auto* opened = ::back::open();
    Skeleton owned{opened, [](void* object) { ::back::destroy(static_cast<::back*>(object)); }};
    if (opened == nullptr || !shareMaps(opened->obj, steering) || ::back::load(opened) != 0)
        return failErrno(errno, what);
    LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = static_cast<int>(ifindex), .attach_point = BPF_TC_INGRESS);
    LIBBPF_OPTS(bpf_tc_opts, filter, .prog_fd = bpf_program__fd(opened->progs.back));
    int error = bpf_tc_hook_create(&hook);
    if (error == 0)
        error = bpf_tc_attach(&hook, &filter);
    if (error != 0)
        return std::unexpected(Error{what, errnoText(-error),
                                     "it needs filters of tc that are BPF programs (CONFIG_NET_CLS_BPF)",
                                     ExitCode::notSupported, -error});
    return WayBack{std::move(owned)};
}

int WayBack::map(const char* name) const {
    return bpf_object__find_map_fd_by_name(static_cast<::back*>(skeleton_.get())->obj, name);
}

Result<void> WayBack::letReceive(unsigned ifindex) {
    if (receives_)
        return {};
    const int program = bpf_program__fd(static_cast<::back*>(skeleton_.get())->progs.arrive);
    if (const int error = bpf_xdp_attach(static_cast<int>(ifindex), program, XDP_FLAGS_DRV_MODE, nullptr);
        error != 0)
        return failErrno(-error, "cannot let network functions receive what others give on");
    receives_ = true;
    return {};
}

void WayBack::setTaker(const tna_back_taker_key& key, const std::optional<tna_back_taker>& taker) const {
    if (taker)
        (void)bpf_map_update_elem(map("back_takers"), &key, &*taker, BPF_ANY);
    else
        (void)bpf_map_delete_elem(map("back_takers"), &key);
}

Result<void> WayBack::allow(unsigned mark, unsigned function, const std::vector<unsigned>& ports) const {
    forbid(mark);
    for (unsigned place = 0; place < ports.size(); place++) {
        const tna_back_port key{mark, place};
        const tna_back_to to{ports[place], function};
        if (ports[place] != 0 && bpf_map_update_elem(map("back_ports"), &key, &to, BPF_ANY) != 0)
            return failErrno(errno, "cannot let a network function give frames back to Linux");
    }
    return {};
}

void WayBack::forbid(unsigned mark) const {
    constexpr unsigned mostPorts = 16;
    for (unsigned place = 0; place < mostPorts; place++) {
        const tna_back_port key{mark, place};
        (void)bpf_map_delete_elem(map("back_ports"), &key);
    }
}

} // namespace tna::deploy
