// SPDX-License-Identifier: Apache-2.0
#include "bench/delays/hook.hpp"

#include "bench/traffic/traffic.hpp"
#include "delays.skel.h"

#include <bpf/libbpf.h>
#include <cerrno>

namespace tna::bench {

void Hook::Destroy::operator()(::delays* programs) const {
    delays__destroy(programs);
}

Result<Hook> Hook::attach(const NetNamespace& where, const std::string& device, Does does) {
    Hook hook;
    hook.programs_.reset(delays__open_and_load());
    if (!hook.programs_)
        return failErrno(errno, "cannot load the programs for probes");
    const auto inside = NamespaceScope::enter(where);
    if (!inside)
        return std::unexpected(inside.error());
    const auto& programs = hook.programs_->progs;
    auto link = attachXdp(bpf_program__fd(does == Does::echo ? programs.echo : programs.to_socket), device);
    if (!link)
        return std::unexpected(link.error());
    hook.link_ = std::move(*link);
    return hook;
}

int Hook::sockets() const {
    return bpf_map__fd(programs_->maps.socket);
}

} // namespace tna::bench
