// SPDX-License-Identifier: Apache-2.0
#include "deploy/results/port_counters.hpp"

#include <numeric>

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
} // namespace

PortCounters& PortCounters::operator+=(const PortCounters& other) {
    inPackets += other.inPackets;
    inBytes += other.inBytes;
    outPackets += other.outPackets;
    outBytes += other.outBytes;
    for (std::size_t reason = 0; reason < slow.size(); reason++)
        slow.at(reason) += other.slow.at(reason);
    return *this;
}

const char* reasonCode(unsigned reason) {
    return reason < TNA_REASON_COUNT ? words[reason].code : "unknown";
}

const char* reasonText(unsigned reason) {
    return reason < TNA_REASON_COUNT ? words[reason].text : "unknown";
}

std::uint64_t PortCounters::slowPackets() const {
    return std::accumulate(slow.begin(), slow.end(), std::uint64_t{0});
}

} // namespace tna::deploy
