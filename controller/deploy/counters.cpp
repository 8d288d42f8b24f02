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

Result<CounterReader> CounterReader::open(int countersMap, int flowsMap, unsigned slots, unsigned flows) {
    void* memory = ::mmap(nullptr, flows * sizeof(tna_flow), PROT_READ, MAP_SHARED, flowsMap, 0);
    if (memory == MAP_FAILED)
        return failErrno(errno, "cannot map the flow cache");
    return CounterReader{countersMap, static_cast<const tna_flow*>(memory), slots, flows};
}

CounterReader::CounterReader(CounterReader&& other) noexcept
    : countersMap_(other.countersMap_), flows_(std::exchange(other.flows_, nullptr)), slots_(other.slots_),
      flowCount_(other.flowCount_) {}

CounterReader::~CounterReader() {
    if (flows_ != nullptr)
        ::munmap(const_cast<tna_flow*>(flows_), flowCount_ * sizeof(tna_flow));
}

std::vector<PortCounters> CounterReader::read(unsigned usedSlots) const {
    std::vector<PortCounters> sums(std::min(usedSlots, slots_));
    std::vector<tna_port_counters> perCpu(static_cast<std::size_t>(libbpf_num_possible_cpus()));
    for (__u32 slot = 0; slot < sums.size(); slot++)
        if (bpf_map_lookup_elem(countersMap_, &slot, perCpu.data()) == 0)
            for (const auto& part : perCpu)
                add(sums[slot], part);
    for (unsigned i = 0; i < flowCount_; i++) {
        const auto& flow = flows_[i];
        if (flow.packets == 0 || flow.in_slot >= sums.size() || flow.out_slot >= sums.size())
            continue;
        sums[flow.in_slot].inPackets += flow.packets;
        sums[flow.in_slot].inBytes += flow.bytes;
        sums[flow.out_slot].outPackets += flow.packets;
        sums[flow.out_slot].outBytes += flow.bytes;
    }
    return sums;
}

} // namespace tna::deploy
