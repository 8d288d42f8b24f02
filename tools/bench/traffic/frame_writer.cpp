// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/frame_writer.hpp"

#include <algorithm>
#include <cstring>

#include "bench/bpf/shared.h"

namespace tna::bench {

namespace {
constexpr std::size_t sequenceAfterMark = 4;
constexpr std::size_t timeAfterMark = 8;
} // namespace

unsigned sizeIndexOf(std::uint64_t number, std::size_t sizes) {
    constexpr std::array<unsigned, PATTERN> pattern{0, 1, 0, 0, 1, 0, 2, 0, 1, 0, 1, 0};
    return sizes > 1 ? pattern.at(number % PATTERN) : 0;
}

std::uint32_t addressingOf(Scenario scenario) {
    switch (scenario) {
    case Scenario::router:
    case Scenario::bridges:
        return ADDRESSING_IPV4;
    case Scenario::router6:
        return ADDRESSING_IPV6;
    case Scenario::firewall:
    case Scenario::nat:
        return ADDRESSING_IPV4 | ADDRESSING_PORTS;
    case Scenario::firewall6:
    case Scenario::nat6:
        return ADDRESSING_IPV6 | ADDRESSING_PORTS;
    case Scenario::forward:
        return ADDRESSING_IPV4 | ADDRESSING_PORTS | ADDRESSING_SOURCE;
    case Scenario::forward6:
        return ADDRESSING_IPV6 | ADDRESSING_PORTS | ADDRESSING_SOURCE;
    case Scenario::bridge:
        break;
    }
    return ADDRESSING_STATIONS;
}

FrameWriter::FrameWriter(const Setup& setup) : addressing_(addressingOf(setup.scenario)) {
    for (const auto& frames : framesOf(setup)) {
        const auto head = frames.head();
        templates_.push_back({head.bytes, frames.back(0), head.sum});
        markAt_ = head.markAt;
    }
}

std::size_t FrameWriter::write(std::span<unsigned char> buffer, const Which& which) const {
    const auto& [there, back, sum] = templates_[sizeIndexOf(which.number, templates_.size())];
    const auto& frame = which.back ? back : there;
    std::ranges::copy(frame, buffer.begin());
    write_flow(buffer.data(), addressing_, which.flow, sum, which.back ? 1 : 0);
    const std::uint32_t sequence = SEQUENCE(which.cpu, which.number);
    std::memcpy(buffer.data() + markAt_ + sequenceAfterMark, &sequence, sizeof(sequence));
    if (which.due && markAt_ + timeAfterMark + sizeof(*which.due) <= frame.size())
        std::memcpy(buffer.data() + markAt_ + timeAfterMark, &*which.due, sizeof(*which.due));
    return frame.size();
}

} // namespace tna::bench
