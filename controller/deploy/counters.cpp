// SPDX-License-Identifier: Apache-2.0
#include "deploy/counters.hpp"

#include <algorithm>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <numeric>
#include <sys/mman.h>

namespace tna::deploy {

namespace {
struct ReasonWords {
    const char* code;
    const char* text;
};
constexpr std::array<ReasonWords, TNA_REASON_COUNT> words = {{
#define TNA_REASON_WORDS(id, code, text) {code, text},
    TNA_REASONS(TNA_REASON_WORDS)
#undef TNA_REASON_WORDS
}};

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

const char* reasonCode(unsigned reason) {
    return reason < TNA_REASON_COUNT ? words[reason].code : "unknown";
}

const char* reasonText(unsigned reason) {
    return reason < TNA_REASON_COUNT ? words[reason].text : "unknown";
}

std::uint64_t PortCounters::slowPackets() const {
    return std::accumulate(slow.begin(), slow.end(), std::uint64_t{0});
}

template <typename Entry>
Result<CacheView<Entry>> CacheView<Entry>::open(int map, unsigned entries) {
    void* memory = ::mmap(nullptr, entries * sizeof(Entry), PROT_READ, MAP_SHARED, map, 0);
    if (memory == MAP_FAILED)
        return failErrno(errno, "cannot map the flow cache");
    return CacheView{{static_cast<const Entry*>(memory), entries}};
}

template <typename Entry>
CacheView<Entry>::CacheView(CacheView&& other) noexcept : entries_(std::exchange(other.entries_, {})) {}

template <typename Entry>
CacheView<Entry>::~CacheView() {
    if (!entries_.empty())
        ::munmap(const_cast<Entry*>(entries_.data()), entries_.size_bytes());
}

template <typename Entry>
void CacheView<Entry>::addTo(std::vector<PortCounters>& sums) const {
    for (const auto& entry : entries_) {
        const auto* counted = counting(&entry);
        addForwarded(sums, counted->in_slot, counted->out_slot, *counted);
    }
}

template class CacheView<tna_flow>;
template class CacheView<tna_route>;
template class CacheView<tna_route6>;

Result<CounterReader> CounterReader::open(const CounterMaps& maps, unsigned slots, unsigned entries) {
    auto view = CacheView<tna_flow>::open(maps.flows, entries);
    if (!view)
        return std::unexpected(view.error());
    return CounterReader{maps, slots, std::move(*view)};
}

Result<void> CounterReader::addRoutes(int routes, int routes6, unsigned entries) {
    if (routes_)
        return {};
    auto view = CacheView<tna_route>::open(routes, entries);
    if (!view)
        return std::unexpected(view.error());
    auto view6 = CacheView<tna_route6>::open(routes6, routes6For(entries));
    if (!view6)
        return std::unexpected(view6.error());
    routes_.emplace(std::move(*view));
    routes6_.emplace(std::move(*view6));
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

// The ports first: what moves to them meanwhile is missing then, not counted twice.
std::vector<PortCounters> CounterReader::sum(unsigned usedSlots) const {
    std::vector<PortCounters> sums(std::min(usedSlots, slots_));
    for (__u32 slot = 0; slot < sums.size(); slot++)
        for (const auto& part : valuesOf<tna_port_counters>(maps_.ports, slot))
            add(sums[slot], part);
    for (const auto& note : valuesOf<tna_decision_note>(maps_.notes, 0))
        addForwarded(sums, note.slots & 0xffffU, note.slots >> 16U, note);
    flows_.addTo(sums);
    if (routes_)
        routes_->addTo(sums);
    if (routes6_)
        routes6_->addTo(sums);
    return sums;
}

} // namespace tna::deploy
