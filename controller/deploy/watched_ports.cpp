// SPDX-License-Identifier: Apache-2.0
#include "deploy/watched_ports.hpp"

#include <bpf/bpf.h>
#include <cerrno>
#include <cstring>

namespace tna::deploy {

namespace {
tna_watched_port entry(unsigned slot, const assemble::WatchedPort& port, bool hasProgram) {
    tna_watched_port value{};
    value.slot = slot;
    value.bridge = port.bridge;
    value.ingress_reason = static_cast<__u16>(port.ingressReason);
    value.egress_reason = static_cast<__u16>(port.egressReason);
    if (port.needsProgram && !hasProgram && port.egressReason == TNA_REASON_COUNT)
        value.egress_reason = TNA_REASON_EGRESS_REDIRECT;
    value.max_frame = port.maxFrame;
    value.isolated = port.isolated;
    value.learns = port.learns;
    value.refresh = static_cast<__u64>(port.refresh.count());
    return value;
}
} // namespace

Result<void> WatchedPorts::set(model::IfIndex ifindex, unsigned slot, const assemble::WatchedPort& port,
                               bool hasProgram) {
    const auto value = entry(slot, port, hasProgram);
    if (const auto it = placed_.find(ifindex);
        it != placed_.end() && std::memcmp(&it->second, &value, sizeof(value)) == 0)
        return {};
    if (bpf_map_update_elem(map_, &ifindex, &value, BPF_ANY) != 0) {
        const int code = errno;
        remove(ifindex); // what it said before may be wrong by now
        return failErrno(code, "cannot enter the device with index {} in the table of watched ports",
                         ifindex);
    }
    placed_[ifindex] = value;
    changes_++;
    return {};
}

void WatchedPorts::remove(model::IfIndex ifindex) {
    if (placed_.erase(ifindex) > 0)
        bpf_map_delete_elem(map_, &ifindex);
}

} // namespace tna::deploy
