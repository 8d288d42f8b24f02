// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/frame.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <numeric>

#include "bench/bpf/shared.h"

namespace tna::bench {

namespace {
static_assert(scatterBits == SCATTER_BITS);
constexpr std::size_t ethernet = 14;
constexpr std::size_t ipv4 = 20;
constexpr std::size_t ipv6 = 40;
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

/// Ports, as the header of either protocol begins; without a checksum of the payload.
void writeTransport(Frame& frame, std::size_t at, Protocol protocol, unsigned from) {
    constexpr unsigned acknowledgement = 0x5010; // of a header of five words
    if (protocol == Protocol::tcp)
        writeWords(frame, at, {from, 9, 0, 1, 0, 1, acknowledgement, 0xffff, 0, 0});
    else
        writeWords(frame, at, {from, 9, static_cast<unsigned>(frame.size() - at), 0});
}

constexpr unsigned numberOf(Protocol protocol) {
    return protocol == Protocol::tcp ? 6 : 17;
}

Frame ipv4Frame(unsigned size, Protocol protocol, unsigned from, std::initializer_list<unsigned> addresses) {
    Frame frame(size);
    const auto length = size - static_cast<unsigned>(ethernet);
    writeWords(frame, 12, {0x0800, 0x4500, length, 0, 0, hopLimit << 8U | numberOf(protocol), 0});
    writeWords(frame, ethernet + 12, addresses);
    writeTransport(frame, ethernet + ipv4, protocol, from);
    setChecksum(frame);
    return frame;
}

void setMacs(Frame& frame, const std::string& to, const std::string& from) {
    std::size_t at = 0;
    for (const auto* mac : {&to, &from})
        for (std::size_t digit = 0; digit < mac->size(); digit += 3)
            frame[at++] = static_cast<unsigned char>(std::stoul(mac->substr(digit, 2), nullptr, 16));
}

/// As the generator's CPU writes it.
void writeNative(Frame& frame, std::size_t at, std::uint32_t value) {
    std::copy_n(reinterpret_cast<const unsigned char*>(&value), sizeof(value),
                frame.begin() + static_cast<std::ptrdiff_t>(at));
}

void swapBytes(Frame& frame, std::size_t one, std::size_t other, std::size_t count) {
    const auto at = frame.begin();
    std::swap_ranges(at + static_cast<std::ptrdiff_t>(one), at + static_cast<std::ptrdiff_t>(one + count),
                     at + static_cast<std::ptrdiff_t>(other));
}
} // namespace

Frame Frames::ofBridge(unsigned flow) const {
    auto frame =
        ipv4Frame(size_ - static_cast<unsigned>(tag()), protocol_, sourcePort(flow), {0x0a00, 1, 0x0a01, 2});
    writeWords(frame, 0, {0x0200, flow >> 16U, flow, 0x0201, flow >> 16U, flow});
    return frame;
}

Frame Frames::ofRouter(unsigned flow) const {
    const auto to = 0x64400000U | SCATTER(flow);
    auto frame = forwardsPorts(scenario_)
                     ? ipv4Frame(size_, protocol_, sourcePort(flow), {to >> 16U, to, 0x0a01, 3})
                     : ipv4Frame(size_, protocol_, sourcePort(flow), {0x0a01, 2, to >> 16U, to});
    setMacs(frame, ingressMac, generatorMac);
    return frame;
}

/// Without a protocol that a router would know (59), a mark fits into the smallest frame.
Frame Frames::ofRouter6(unsigned flow) const {
    const auto to = SCATTER(flow) << (32 - scatterBits);
    const bool carries = protocol_ == Protocol::tcp || filters(scenario_);
    Frame frame(size_);
    setMacs(frame, ingressMac, generatorMac);
    writeWords(frame, 12,
               {0x86dd, 0x6000, 0, size_ - static_cast<unsigned>(ethernet + ipv6),
                (carries ? numberOf(protocol_) : 59U) << 8U | hopLimit});
    const bool own = forwardsPorts(scenario_);
    writeWords(frame, ethernet + (own ? 24 : 8), {0xfd00, 1, 0, 0, 0, 0, 0, own ? 3U : 2U});
    writeWords(frame, ethernet + (own ? 8 : 24), {0x2001, 0x0db8, to >> 16U, to, 0, 0, 0, 1});
    if (carries)
        writeTransport(frame, ethernet + ipv6, protocol_, sourcePort(flow));
    return frame;
}

Frame Frames::untagged(unsigned flow) const {
    switch (scenario_) {
    case Scenario::router:
    case Scenario::bridges:
    case Scenario::firewall:
    case Scenario::nat:
    case Scenario::forward:
        return ofRouter(flow);
    case Scenario::router6:
    case Scenario::firewall6:
    case Scenario::nat6:
    case Scenario::forward6:
        return ofRouter6(flow);
    case Scenario::bridge:
        break;
    }
    return ofBridge(flow);
}

Frame Frames::sent(unsigned flow, std::uint32_t sequence) const {
    auto frame = untagged(flow);
    if (vlan_ != 0) {
        frame.insert(frame.begin() + 12, 4, 0);
        writeWords(frame, 12, {0x8100, vlan_});
    }
    for (std::size_t at = markAt(); at < frame.size(); at++)
        frame[at] = static_cast<unsigned char>(at * 7 + 3);
    writeNative(frame, markAt(), mark);
    writeNative(frame, markAt() + sizeof(mark), sequence);
    return frame;
}

/// As a frame is on the sink's side: from or to the router's address there, or to or from the host that a
/// port is forwarded to. Its words add up to what those of the address on the generator's side do, so that
/// checksums stay.
void Frames::translate(Frame& frame, bool back) const {
    if (!translates(scenario_))
        return;
    const bool destination = forwardsPorts(scenario_) != back;
    const unsigned host = forwardsPorts(scenario_) ? 2 : 1;
    if (usesIpv6(scenario_))
        writeWords(frame, ethernet + (destination ? 24 : 8), {0xfd00, 2, 0, 0, 0, 0, 0, host});
    else
        writeWords(frame, ethernet + (destination ? 16 : 12), {0x0a02, host});
    if (forwardsPorts(scenario_))
        writeWords(frame, ethernet + network() + (destination ? 2 : 0), {2009});
}

Frame Frames::back(unsigned flow) const {
    auto frame = sent(flow);
    if (!routes(scenario_)) {
        swapBytes(frame, 0, 6, 6);
        return frame;
    }
    setMacs(frame, egressMac, sinkMac);
    if (usesIpv6(scenario_))
        swapBytes(frame, ethernet + 8, ethernet + 24, 16);
    else
        swapBytes(frame, ethernet + 12, ethernet + 16, 4);
    if (filters(scenario_))
        swapBytes(frame, ethernet + network(), ethernet + network() + 2, 2);
    translate(frame, true);
    return frame;
}

Frame Frames::forwarded(unsigned flow, std::uint32_t sequence) const {
    auto frame = sent(flow, sequence);
    if (!routes(scenario_))
        return frame;
    setMacs(frame, sinkMac, egressMac);
    translate(frame, false);
    if (usesIpv6(scenario_)) {
        frame[hopLimitAt]--;
        return frame;
    }
    frame[ttlAt]--;
    setChecksum(frame);
    return frame;
}

unsigned Frames::sourcePort(unsigned flow) const {
    return filters(scenario_) ? FLOW_PORT(flow) : 9000;
}

std::size_t Frames::transport() const {
    constexpr std::size_t udp = 8;
    constexpr std::size_t tcp = 20;
    if (protocol_ == Protocol::tcp)
        return tcp;
    return scenario_ == Scenario::router6 ? 0 : udp;
}

std::size_t Frames::markAt() const {
    return ethernet + tag() + network() + transport();
}

unsigned Frames::smallestMarked() const {
    return static_cast<unsigned>(markAt() + sizeof(mark) + sizeof(std::uint32_t));
}

unsigned Frames::smallestTimed() const {
    return smallestMarked() + static_cast<unsigned>(sizeof(std::uint64_t));
}

FrameHead Frames::head() const {
    const auto first = sent(0);
    Frame own(first.size());
    const auto differ = [&](std::size_t from, std::size_t to) {
        for (auto at = from; at < std::min(to, own.size()); at++)
            own[at] = 0xff;
    };
    if (scenario_ == Scenario::bridge) {
        differ(2, 6);
        differ(8, 12);
    } else if (usesIpv6(scenario_)) {
        const std::size_t own = ethernet + (forwardsPorts(scenario_) ? 12 : 28);
        differ(own, own + 4);
    } else {
        differ(checksumAt, checksumAt + 2);
        const std::size_t own = ethernet + (forwardsPorts(scenario_) ? 12 : 16);
        differ(own, own + 4);
    }
    if (filters(scenario_))
        differ(ethernet + network(), ethernet + network() + 2);
    differ(smallestMarked() - sizeof(std::uint32_t), smallestTimed());
    return {first, back(0), forwarded(0), std::move(own), markAt(), sumOfHeader(first)};
}

std::vector<Frames> framesOf(const Setup& setup) {
    std::vector<Frames> all;
    for (const auto size : sizesOf(setup))
        all.emplace_back(setup.scenario, size, setup.vlan, setup.protocol);
    return all;
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
        if (std::ranges::count(expected, frame.size(), &Frame::size) == 0)
            return fmt::format("a frame of {} bytes arrived with {}", expected.front().size(), frame.size());
        // Most likely it is one of those that are missing, with the fewest bytes changed.
        const auto changes = [&](const Frame& other) -> unsigned {
            if (other.size() != frame.size())
                return std::numeric_limits<unsigned>::max();
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
