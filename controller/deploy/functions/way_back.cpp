// SPDX-License-Identifier: Apache-2.0
#include "deploy/functions/way_back.hpp"

#include "deploy/kernel/tcx.hpp"

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
    UniqueFd link{
        bpf_link_create(bpf_program__fd(opened->progs.back), static_cast<int>(ifindex), tcxIngress, nullptr)};
    if (!link)
        return std::unexpected(Error{what, errnoText(errno), "it needs tcx, which came with Linux 6.6",
                                     ExitCode::notSupported, errno});
    const int ports = bpf_map__fd(opened->maps.back_ports);
    return WayBack{std::move(owned), std::move(link), ports};
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
