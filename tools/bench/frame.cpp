// SPDX-License-Identifier: Apache-2.0
#include "bench/frame.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <initializer_list>
#include <map>
#include <numeric>

#include "bench/bpf/shared.h"

namespace tna::bench {

namespace {
static_assert(scatterBits == SCATTER_BITS);
constexpr std::size_t ethernet = 14;
constexpr std::size_t ipv4 = 20;
constexpr std::size_t ipv6 = 40;
constexpr std::size_t udp = 8;
constexpr unsigned hopLimit = 64;
constexpr std::size_t ttlAt = ethernet + 8;
constexpr std::size_t checksumAt = ethernet + 10;
constexpr std::size_t hopLimitAt = ethernet + 7;
/// By which the sink knows the frames, as the generator's CPU writes it.
constexpr std::uint32_t mark = 0x746e6162;

void writeWords(Frame& frame, std::size_t at, std::initializer_list<unsigned> words) {
    for (const unsigned word : words) {
        frame[at++] = static_cast<unsigned char>(word >> 8U);
        frame[at++] = static_cast<unsigned char>(word);
    }
}

std::uint32_t sumOfHeader(const Frame& frame) {
    std::uint32_t sum = 0;
    for (std::size_t at = ethernet; at < ethernet + ipv4; at += 2)
        sum += at == checksumAt ? 0 : frame[at] << 8U | frame[at + 1];
    return sum;
}

void setChecksum(Frame& frame) {
    auto sum = sumOfHeader(frame);
    while (sum > 0xffff)
        sum = (sum & 0xffffU) + (sum >> 16U);
    writeWords(frame, checksumAt, {~sum});
}

Frame payload(unsigned size, std::size_t headers) {
    Frame frame(size);
    for (std::size_t at = headers; at < size; at++)
        frame[at] = static_cast<unsigned char>(at * 7 + 3);
    std::copy_n(reinterpret_cast<const unsigned char*>(&mark), sizeof(mark),
                frame.begin() + static_cast<std::ptrdiff_t>(headers));
    return frame;
}

/// A UDP packet, without a checksum of its payload.
Frame ipv4Frame(unsigned size, std::initializer_list<unsigned> addresses) {
    auto frame = payload(size, ethernet + ipv4 + udp);
    const auto length = size - static_cast<unsigned>(ethernet);
    writeWords(frame, 12, {0x0800, 0x4500, length, 0, 0, hopLimit << 8U | 17U, 0});
    writeWords(frame, ethernet + 12, addresses);
    writeWords(frame, ethernet + ipv4, {9000, 9, length - static_cast<unsigned>(ipv4), 0});
    setChecksum(frame);
    return frame;
}

std::size_t markOf(Scenario scenario) {
    return scenario == Scenario::router6 ? ethernet + ipv6 : ethernet + ipv4 + udp;
}

void setMacs(Frame& frame, const std::string& to, const std::string& from) {
    std::size_t at = 0;
    for (const auto* mac : {&to, &from})
        for (std::size_t digit = 0; digit < mac->size(); digit += 3)
            frame[at++] = static_cast<unsigned char>(std::stoul(mac->substr(digit, 2), nullptr, 16));
}
} // namespace

Frame Frames::ofBridge(unsigned flow) const {
    auto frame = ipv4Frame(size_, {0x0a00, 1, 0x0a01, 2});
    writeWords(frame, 0, {0x0200, flow >> 16U, flow, 0x0201, flow >> 16U, flow});
    return frame;
}

Frame Frames::ofRouter(unsigned flow) const {
    const auto to = 0x64400000U | SCATTER(flow);
    auto frame = ipv4Frame(size_, {0x0a01, 2, to >> 16U, to});
    setMacs(frame, ingressMac, generatorMac);
    return frame;
}

/// Nothing follows the header that a router would know (59), so that a mark fits into the smallest frame.
Frame Frames::ofRouter6(unsigned flow) const {
    const auto to = SCATTER(flow) << (32 - scatterBits);
    auto frame = payload(size_, ethernet + ipv6);
    setMacs(frame, ingressMac, generatorMac);
    writeWords(frame, 12,
               {0x86dd, 0x6000, 0, size_ - static_cast<unsigned>(ethernet + ipv6), 59U << 8U | hopLimit});
    writeWords(frame, ethernet + 8, {0xfd00, 1, 0, 0, 0, 0, 0, 2, 0x2001, 0x0db8, to >> 16U, to, 0, 0, 0, 1});
    return frame;
}

Frame Frames::sent(unsigned flow) const {
    switch (scenario_) {
    case Scenario::router:
    case Scenario::bridges:
        return ofRouter(flow);
    case Scenario::router6:
        return ofRouter6(flow);
    case Scenario::bridge:
        break;
    }
    return ofBridge(flow);
}

Frame Frames::forwarded(unsigned flow) const {
    auto frame = sent(flow);
    if (!routes(scenario_))
        return frame;
    setMacs(frame, sinkMac, egressMac);
    if (scenario_ == Scenario::router6) {
        frame[hopLimitAt]--;
        return frame;
    }
    frame[ttlAt]--;
    setChecksum(frame);
    return frame;
}

unsigned Frames::smallestTimed() const {
    return static_cast<unsigned>(markOf(scenario_) + sizeof(mark) + sizeof(std::uint64_t));
}

FrameHead Frames::head() const {
    auto first = sent(0);
    const auto sum = sumOfHeader(first);
    return {std::move(first), markOf(scenario_), sum};
}

std::string differences(const std::vector<Frame>& arrived, const std::vector<Frame>& expected) {
    std::map<Frame, unsigned> missing;
    for (const auto& frame : expected)
        missing[frame]++;
    for (const auto& frame : arrived) {
        const auto found = missing.find(frame);
        if (found != missing.end() && found->second > 0) {
            found->second--;
            continue;
        }
        if (found != missing.end())
            return "a frame arrived twice";
        if (frame.size() != expected.front().size())
            return fmt::format("a frame of {} bytes arrived with {}", expected.front().size(), frame.size());
        // Most likely it is one of those that are missing, with the fewest bytes changed.
        const auto changes = [&](const Frame& other) {
            return std::inner_product(frame.begin(), frame.end(), other.begin(), 0U, std::plus{},
                                      std::not_equal_to{});
        };
        const auto& meant = *std::ranges::min_element(expected, {}, changes);
        const auto [got, want] = std::ranges::mismatch(frame, meant);
        return fmt::format("byte {} of a frame is {:02x} instead of {:02x}", got - frame.begin(), *got,
                           *want);
    }
    if (arrived.size() != expected.size())
        return fmt::format("{} of {} frames arrived", arrived.size(), expected.size());
    return {};
}

} // namespace tna::bench
