// SPDX-License-Identifier: Apache-2.0
#include "deploy/functions/way_back.hpp"

#include "back.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>

namespace tna::deploy {

Result<WayBack> WayBack::attach(unsigned ifindex) {
    constexpr const char* what = "cannot make the way back to Linux for network functions";
    auto* opened = ::back::open_and_load();
    Skeleton owned{opened, [](void* object) { ::back::destroy(static_cast<::back*>(object)); }};
    if (opened == nullptr)
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
    const int ports = bpf_map__fd(opened->maps.back_ports);
    return WayBack{std::move(owned), ports};
}

Result<void> WayBack::allow(unsigned mark, const std::vector<unsigned>& ports) const {
    forbid(mark);
    for (unsigned place = 0; place < ports.size(); place++) {
        const tna_back_port key{mark, place};
        if (ports[place] != 0 && bpf_map_update_elem(ports_, &key, &ports[place], BPF_ANY) != 0)
            return failErrno(errno, "cannot let a network function give frames back to Linux");
    }
    return {};
}

void WayBack::forbid(unsigned mark) const {
    constexpr unsigned mostPorts = 16;
    for (unsigned place = 0; place < mostPorts; place++) {
        const tna_back_port key{mark, place};
        (void)bpf_map_delete_elem(ports_, &key);
    }
}

} // namespace tna::deploy
