// SPDX-License-Identifier: Apache-2.0
#include "deploy/fdb/watched_ports.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

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
    value.min_frame = port.minFrame;
    value.isolated = port.isolated;
    value.learns = port.learns;
    value.tag_reason = static_cast<__u16>(port.tagReason);
    value.vlan_protocol = htons(port.vlanProtocol);
    value.pvid = port.pvid;
    value.refresh = static_cast<__u64>(port.refresh.count());
    return value;
}

/// The upper bit of each VLAN's part: it forwards.
constexpr std::uint64_t forwards = 0xaaaa'aaaa'aaaa'aaaaU;
static_assert((TNA_VLAN_TAGGED & TNA_VLAN_UNTAGGED) == 2 && TNA_VLAN_LEARNS < 2);

/// What is wanted, but nothing forwarded in VLANs where nothing is so far.
std::uint64_t withoutNew(std::uint64_t before, std::uint64_t wanted) {
    const auto fresh = wanted & forwards & ~before;
    const auto mask = fresh | fresh >> 1U;
    return (wanted & ~mask) | (before & mask);
}
/// What is wanted, but nothing let through that is not so far.
tna_watched_port withoutNew(const tna_watched_port& before, const tna_watched_port& wanted) {
    auto now = before;
    const auto close = [](__u16& reason, __u16 next) { reason = reason == TNA_REASON_COUNT ? next : reason; };
    close(now.ingress_reason, wanted.ingress_reason);
    close(now.egress_reason, wanted.egress_reason);
    close(now.tag_reason, wanted.tag_reason);
    if (before.vlan_protocol != wanted.vlan_protocol)
        close(now.ingress_reason, TNA_REASON_BRIDGE_OPTIONS);
    now.max_frame = std::min(before.max_frame, wanted.max_frame);
    now.min_frame = std::max(before.min_frame, wanted.min_frame);
    now.isolated |= wanted.isolated;
    now.learns &= wanted.learns;
    if (before.pvid != wanted.pvid)
        now.pvid = 0;
    return now;
}
} // namespace

void WatchedPorts::Unmap::operator()(tna_watched_vlans* memory) const {
    ::munmap(memory, size);
}

Result<WatchedPorts> WatchedPorts::open(int portsMap, int vlansMap, unsigned capacity) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto size = (capacity * sizeof(tna_watched_vlans) + page - 1) / page * page;
    void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, vlansMap, 0);
    if (memory == MAP_FAILED)
        return failErrno(errno, "cannot map the table of {} ports' VLANs", capacity);
    return WatchedPorts{portsMap, Vlans{static_cast<tna_watched_vlans*>(memory), Unmap{size}}};
}

/// Word by word: the fast path never sees half a part.
void WatchedPorts::writeVlans(unsigned slot, const assemble::VlanParts& wanted) {
    bool changed = false;
    for (std::size_t word = 0; word < wanted.size(); word++) {
        auto& place = vlans_[slot].parts[word];
        if (place == wanted[word])
            continue;
        __atomic_store_n(&place, wanted[word], __ATOMIC_SEQ_CST);
        changed = true;
    }
    changes_ += changed ? 1 : 0;
}

void WatchedPorts::take(model::IfIndex ifindex, const assemble::WatchedPort& port) {
    const auto it = placed_.find(ifindex);
    if (it == placed_.end())
        return;
    if (it->second.bridge != port.bridge) { // none of it is of the bridge that the port belongs to now
        remove(ifindex);
        return;
    }
    auto now = it->second;
    auto parts = port.vlans;
    for (std::size_t word = 0; word < parts.size(); word++)
        parts[word] = withoutNew(vlans_[now.slot].parts[word], parts[word]);
    now = withoutNew(now, entry(now.slot, port, true));
    if (std::memcmp(&it->second, &now, sizeof now) != 0 && !place(ifindex, now))
        return;
    writeVlans(now.slot, parts);
}

Result<void> WatchedPorts::place(model::IfIndex ifindex, const tna_watched_port& value) {
    if (bpf_map_update_elem(map_, &ifindex, &value, BPF_ANY) != 0) {
        const int code = errno;
        remove(ifindex); // what it said before may be wrong by now
        return failErrno(code, "cannot enter the device with index {} in the table of watched ports",
                         ifindex);
    }
    placed_[ifindex] = value;
    stuck_.erase(ifindex);
    changes_++;
    return {};
}

Result<void> WatchedPorts::set(model::IfIndex ifindex, unsigned slot, const assemble::WatchedPort& port,
                               bool hasProgram) {
    writeVlans(slot, port.vlans);
    const auto value = entry(slot, port, hasProgram);
    if (const auto it = placed_.find(ifindex); it != placed_.end() && !stuck_.contains(ifindex) &&
                                               std::memcmp(&it->second, &value, sizeof(value)) == 0)
        return {};
    return place(ifindex, value);
}

void WatchedPorts::remove(model::IfIndex ifindex) {
    const auto it = placed_.find(ifindex);
    if (it == placed_.end())
        return;
    writeVlans(it->second.slot, {});
    if (bpf_map_delete_elem(map_, &ifindex) != 0 && errno != ENOENT) {
        stuck_.insert(ifindex);
        return;
    }
    stuck_.erase(ifindex);
    placed_.erase(it);
}

void WatchedPorts::retry() {
    for (const auto ifindex : std::set(stuck_))
        remove(ifindex);
}

} // namespace tna::deploy
