// SPDX-License-Identifier: Apache-2.0
#include "deploy/pipeline/counters.hpp"

#include <algorithm>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <utility>

namespace tna::deploy {

namespace {
void add(PortCounters& sum, const tna_port_counters& part) {
    sum.inPackets += part.in_packets;
    sum.inBytes += part.in_bytes;
    sum.outPackets += part.out_packets;
    sum.outBytes += part.out_bytes;
    for (unsigned i = 0; i < TNA_REASON_COUNT; i++)
        sum.slow[i] += part.slow[i];
}

/// Does something with each number and its counterpart.
template <typename Function>
void withEach(PortCounters& mine, const PortCounters& other, const Function& function) {
    function(mine.inPackets, other.inPackets);
    function(mine.inBytes, other.inBytes);
    function(mine.outPackets, other.outPackets);
    function(mine.outBytes, other.outBytes);
    for (unsigned i = 0; i < TNA_REASON_COUNT; i++)
        function(mine.slow[i], other.slow[i]);
}

/// What went from one port to another.
template <typename Counted>
void addForwarded(std::vector<PortCounters>& sums, unsigned in, unsigned out, const Counted& counted) {
    if (counted.packets == 0 || in >= sums.size() || out >= sums.size())
        return;
    sums[in].inPackets += counted.packets;
    sums[in].inBytes += counted.bytes;
    sums[out].outPackets += counted.packets;
    sums[out].outBytes += counted.bytes;
}

/// One of each CPU, of a map's entry.
template <typename Value>
std::vector<Value> valuesOf(int map, __u32 key) {
    std::vector<Value> values(static_cast<std::size_t>(libbpf_num_possible_cpus()));
    if (map < 0 || bpf_map_lookup_elem(map, &key, values.data()) != 0)
        values.clear();
    return values;
}

template <typename Entry>
const Entry* counting(const Entry* entry) {
    return entry;
}
const tna_route* counting(const tna_route6* entry) {
    return &entry->route;
}
} // namespace

Result<CacheView> CacheView::open(const CountingMap& cache) {
    void* memory = ::mmap(nullptr, cache.bytes, PROT_READ, MAP_SHARED, cache.map, 0);
    if (memory == MAP_FAILED)
        return failErrno(errno, "cannot map the flow cache");
    return CacheView{{static_cast<const std::byte*>(memory), cache.bytes}, adderFor(cache.counting)};
}

CacheView::CacheView(CacheView&& other) noexcept
    : memory_(std::exchange(other.memory_, {})), add_(other.add_) {}

CacheView::~CacheView() {
    if (!memory_.empty())
        ::munmap(const_cast<std::byte*>(memory_.data()), memory_.size());
}

template <typename Entry>
void CacheView::addEntries(Memory memory, std::vector<PortCounters>& sums) {
    const auto* first = reinterpret_cast<const Entry*>(memory.data());
    for (const auto& entry : std::span(first, memory.size() / sizeof(Entry))) {
        const auto* counted = counting(&entry);
        addForwarded(sums, counted->in_slot, counted->out_slot, *counted);
    }
}

CacheView::Add CacheView::adderFor(assemble::Counting counting) {
    if (counting == assemble::Counting::routes)
        return addEntries<tna_route>;
    return counting == assemble::Counting::routes6 ? addEntries<tna_route6> : addEntries<tna_flow>;
}

Result<void> CounterReader::follow(const std::vector<CountingMap>& caches) {
    while (caches_.size() < caches.size()) {
        auto view = CacheView::open(caches[caches_.size()]);
        if (!view)
            return std::unexpected(view.error());
        caches_.push_back(std::move(*view));
    }
    return {};
}

std::vector<PortCounters> CounterReader::read(unsigned usedSlots) {
    const auto slots = look(usedSlots);
    std::vector<PortCounters> counted(most_.begin(), most_.begin() + slots);
    for (const auto& [slot, others] : before_)
        if (slot < counted.size())
            withEach(counted[slot], others, [](auto& all, auto before) { all -= before; });
    return counted;
}

void CounterReader::startOver(unsigned slot) {
    look(slot + 1);
    before_[slot] = most_[slot];
}

unsigned CounterReader::look(unsigned usedSlots) {
    const auto sums = sum(usedSlots);
    most_.resize(std::max(most_.size(), sums.size()));
    for (std::size_t slot = 0; slot < sums.size(); slot++)
        withEach(most_[slot], sums[slot], [](auto& most, auto now) { most = std::max(most, now); });
    return static_cast<unsigned>(sums.size());
}

std::uint64_t CounterReader::leftToLinux(unsigned slot) const {
    PortCounters all;
    for (const auto& part : valuesOf<tna_port_counters>(maps_.ports, slot))
        add(all, part);
    return all.slowPackets();
}

// The ports first: what moves to them meanwhile is missing then, not counted twice.
std::vector<PortCounters> CounterReader::sum(unsigned usedSlots) const {
    std::vector<PortCounters> sums(std::min(usedSlots, slots_));
    for (__u32 slot = 0; slot < sums.size(); slot++)
        for (const auto& part : valuesOf<tna_port_counters>(maps_.ports, slot))
            add(sums[slot], part);
    for (const auto& note : valuesOf<tna_decision_note>(maps_.notes, 0))
        addForwarded(sums, note.slots & 0xffffU, note.slots >> 16U, note);
    for (const auto& cache : caches_)
        cache.addTo(sums);
    return sums;
}

} // namespace tna::deploy
