// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tna::assemble::rules {

/// What a match says of all the packets that are meant.
enum class Answer { no, maybe, yes };

[[nodiscard]] constexpr Answer opposite(Answer answer) {
    return answer == Answer::maybe ? answer : answer == Answer::yes ? Answer::no : Answer::yes;
}

/// A device as rules know it.
struct RuleDevice {
    std::string name;
    std::uint32_t ifindex = 0;
    std::uint32_t group = 0;
    bool operator==(const RuleDevice&) const = default;
};

/// Any packet in the middle of an established flow, or of TCP one that connection tracking calls invalid. In
/// the middle of a flow, of TCP it has ACK and perhaps PSH; it is no fragment, and
/// nothing is between the headers of IPv6 and TCP or UDP. In bridges it has no
/// VLAN tag, and they do not filter VLANs. Addresses, ports, devices are any.
struct AbstractPacket {
    bool bridged = false; ///< it passes the bridge family's hooks
    bool ipv6 = false;
    std::uint8_t protocol = 0; ///< IPPROTO_TCP or IPPROTO_UDP
    /// Connection tracking has seen it. If not, it may have in an earlier life: as a bridged frame, or before
    /// a veth (nf_conntrack_bridge, skb_scrub_packet).
    bool tracked = true;
    /// Rules have exempted it from connection tracking (`notrack`): it has no connection, and its state says
    /// so.
    bool exempt = false;
    /// Connection tracking has called it invalid, because of its windows: it has no connection then. Its
    /// flags are any, but SYN, and over IPv6 there may be headers in front of it.
    bool invalid = false;
    /// The devices by which it comes and leaves, where they are known.
    const RuleDevice* from = nullptr;
    const RuleDevice* to = nullptr;
    const RuleDevice* notFrom = nullptr; ///< a device by which it does not come, where it is not known which
};

/// Bytes of which only some bits are known.
struct Bits {
    std::vector<std::uint8_t> value;
    std::vector<std::uint8_t> known;   ///< a mask
    std::vector<std::uint8_t> never{}; ///< they do not begin with these; empty: they may begin with any

    [[nodiscard]] static Bits unknown(std::size_t size) {
        return {.value = std::vector<std::uint8_t>(size), .known = std::vector<std::uint8_t>(size)};
    }
    [[nodiscard]] static Bits of(std::span<const std::uint8_t> bytes) {
        return {.value = {bytes.begin(), bytes.end()},
                .known = std::vector<std::uint8_t>(bytes.size(), 0xff)};
    }
    [[nodiscard]] bool allKnown() const;
};

/// The registers of nf_tables: 64 bytes, by old names in 16s and by new ones in 4s.
class Registers {
public:
    /// What does not fit is left out; what is not known is unknown.
    void store(std::uint32_t name, const Bits& bits);
    [[nodiscard]] Bits load(std::uint32_t name, std::size_t size) const;

private:
    static constexpr std::size_t size = 64;
    [[nodiscard]] static std::size_t placeOf(std::uint32_t name);
    std::array<std::uint8_t, size> value_{};
    std::array<std::uint8_t, size> known_{};
    std::size_t neverPlace_ = 0; ///< of what was stored last that has such bytes
    std::vector<std::uint8_t> never_;
};

/// NFT_CMP_*.
[[nodiscard]] Answer compare(const Bits& bits, std::uint32_t operation, std::span<const std::uint8_t> with);
/// NFT_RANGE_EQ.
[[nodiscard]] Answer within(const Bits& bits, std::span<const std::uint8_t> low,
                            std::span<const std::uint8_t> high);
/// (bits & mask) ^ flip.
[[nodiscard]] Bits masked(const Bits& bits, std::span<const std::uint8_t> mask,
                          std::span<const std::uint8_t> flip);

} // namespace tna::assemble::rules
