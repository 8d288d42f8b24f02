// SPDX-License-Identifier: Apache-2.0
#include "bench/frame.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <set>

namespace tna::bench {

namespace {
constexpr std::size_t ethernet = 14;
constexpr std::size_t ip = 20;
constexpr std::size_t headers = ethernet + ip + 8;
constexpr std::size_t stationAt = 4;
constexpr std::size_t checksumAt = ethernet + 10;

class Writer {
public:
    explicit Writer(std::vector<unsigned char>& frame) : frame_(frame) {}
    Writer& word(unsigned value) {
        frame_[at_++] = static_cast<unsigned char>(value >> 8U);
        frame_[at_++] = static_cast<unsigned char>(value);
        return *this;
    }

private:
    std::vector<unsigned char>& frame_;
    std::size_t at_ = 0;
};

unsigned wordAt(const std::vector<unsigned char>& frame, std::size_t at) {
    return frame[at] << 8U | frame[at + 1];
}

void setChecksum(std::vector<unsigned char>& frame) {
    unsigned sum = 0;
    for (std::size_t at = ethernet; at < ethernet + ip; at += 2)
        sum += wordAt(frame, at);
    while (sum > 0xffff)
        sum = (sum & 0xffffU) + (sum >> 16U);
    frame[checksumAt] = static_cast<unsigned char>(~sum >> 8U);
    frame[checksumAt + 1] = static_cast<unsigned char>(~sum);
}
} // namespace

std::vector<unsigned char> frameOfFlow(unsigned flow, unsigned size) {
    std::vector<unsigned char> frame(size);
    for (std::size_t at = headers; at < size; at++)
        frame[at] = static_cast<unsigned char>(at * 7 + 3);
    const auto length = size - static_cast<unsigned>(ethernet);
    Writer(frame)
        .word(0x0200)
        .word(flow >> 16U)
        .word(flow)
        .word(0x0201)
        .word(flow >> 16U)
        .word(flow)
        .word(0x0800)
        .word(0x4500)
        .word(length)
        .word(0)
        .word(0)
        .word(64U << 8U | 17U)
        .word(0)
        .word(0x0a00)
        .word(1)
        .word(0x0a01)
        .word(2)
        .word(9000)
        .word(9)
        .word(length - static_cast<unsigned>(ip))
        .word(0);
    setChecksum(frame);
    // The mark by which the sink knows them, as the generator's CPU writes it.
    const std::uint32_t mark = 0x746e6162;
    std::copy_n(reinterpret_cast<const unsigned char*>(&mark), sizeof(mark), frame.begin() + headers);
    return frame;
}

std::string differences(const std::vector<std::vector<unsigned char>>& arrived, unsigned flows,
                        unsigned size) {
    std::set<unsigned> seen;
    for (const auto& frame : arrived) {
        if (frame.size() != size)
            return fmt::format("a frame of {} bytes arrived with {}", size, frame.size());
        const auto flow = wordAt(frame, stationAt);
        const auto expected = frameOfFlow(flow, size);
        const auto [got, want] = std::ranges::mismatch(frame, expected);
        if (got != frame.end())
            return fmt::format("byte {} of a frame changed from {:02x} to {:02x}", got - frame.begin(), *want,
                               *got);
        if (flow >= flows || !seen.insert(flow).second)
            return fmt::format("a frame of flow {} arrived that was not sent, or twice", flow);
    }
    if (seen.size() != flows)
        return fmt::format("{} of {} frames arrived", seen.size(), flows);
    return {};
}

} // namespace tna::bench
