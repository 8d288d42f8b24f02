// SPDX-License-Identifier: Apache-2.0
#include "assemble/packet_filter.hpp"

#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <optional>
#include <tna/fastpath.h>

namespace tna::assemble {

namespace {

/// So many instructions are followed on all ways together; one that takes more is not understood.
constexpr unsigned mostSteps = 4096;

constexpr std::uint32_t atDestination = 0;
constexpr std::uint32_t oneOfGroup = 1; ///< a bit of its first byte
constexpr std::uint32_t atTail = 2;     ///< of the destination
constexpr std::uint32_t atEtherType = 12;
constexpr std::uint32_t atProtocol = ETH_HLEN + 9;
constexpr std::uint32_t atPort = ETH_HLEN + 2; ///< and the length of the IP header: of the destination
constexpr std::uint32_t mostPlace = 0xffff;    ///< beyond, places are not in the frame, or mean other things

/// What the accumulator holds, as far as it matters.
enum class Holds {
    anything,
    firstByte,
    groupBit,
    head,
    tail,
    etherType,
    versionByte, ///< the first one of the IP header, and its length: in words, in bytes, with something added
    headerWords,
    headerLength,
    place,
    protocol,
    destinationPort
};

/// A number that the index register holds.
struct Place {
    std::uint32_t from = 0;
    bool headerLength = false; ///< and that of the IPv4 header besides
};

/// What is known of a frame at some instruction, on one way to it.
struct Way {
    std::size_t next = 0;
    Holds accumulator = Holds::anything;
    std::optional<Place> index;
    Place sum;                         ///< in the accumulator
    std::optional<std::uint32_t> head; ///< of the destination: two bytes, and four
    std::optional<std::uint32_t> tail;
    std::optional<std::uint32_t> etherType;
    std::optional<std::uint32_t> protocol;
    std::optional<std::uint32_t> destinationPort;

    [[nodiscard]] std::optional<std::uint32_t> known() const {
        switch (accumulator) {
        case Holds::etherType:
            return etherType;
        case Holds::protocol:
            return protocol;
        case Holds::destinationPort:
            return destinationPort;
        case Holds::groupBit:
            return 0; // frames for groups are never forwarded
        case Holds::head:
            return head;
        case Holds::tail:
            return tail;
        default:
            return std::nullopt;
        }
    }
    void learn(std::uint32_t value) {
        switch (accumulator) {
        case Holds::head:
            head = value;
            break;
        case Holds::tail:
            tail = value;
            break;
        case Holds::etherType:
            etherType = value;
            break;
        case Holds::protocol:
            protocol = value;
            break;
        case Holds::destinationPort:
            destinationPort = value;
            break;
        default:
            break;
        }
    }
    /// Such a frame is Linux's. One with a tag may be anything.
    [[nodiscard]] bool leftToLinux() const {
        if (head == TNA_EDP_HEAD && tail == TNA_EDP_TAIL)
            return true;
        if (etherType == ETH_P_IP)
            return protocol == IPPROTO_UDP &&
                   (destinationPort == TNA_DHCP_SERVER || destinationPort == TNA_DHCP_CLIENT);
        return etherType && etherType != ETH_P_IPV6 && etherType != ETH_P_8021Q && etherType != ETH_P_8021AD;
    }
};

class Walk {
public:
    explicit Walk(const model::PacketFilter& filter) : filter_(filter) {}

    [[nodiscard]] bool sparesForwarded() {
        ways_.push_back({});
        while (!ways_.empty()) {
            const Way way = ways_.back();
            ways_.pop_back();
            if (!follow(way))
                return false;
        }
        return true;
    }

private:
    /// Whether what one instruction does is understood, and harmless.
    [[nodiscard]] bool follow(Way way) {
        if (++steps_ > mostSteps || way.next >= filter_.size())
            return false;
        const auto& instruction = filter_[way.next++];
        switch (BPF_CLASS(instruction.code)) {
        case BPF_RET:
            return instruction.code == (BPF_RET | BPF_K) && instruction.operand == 0 ? true
                                                                                     : way.leftToLinux();
        case BPF_JMP:
            return jump(way, instruction);
        case BPF_LD:
            way.accumulator = loaded(way, instruction);
            break;
        case BPF_LDX:
            way.index = indexed(instruction);
            break;
        case BPF_ALU:
            compute(way, instruction);
            break;
        case BPF_MISC:
            if (BPF_MISCOP(instruction.code) != BPF_TAX)
                way.accumulator = Holds::anything;
            else if (way.accumulator == Holds::place)
                way.index = way.sum;
            else
                way.index.reset();
            break;
        default: // to the scratch memory, of which nothing is known
            break;
        }
        ways_.push_back(way);
        return true;
    }

    [[nodiscard]] static std::optional<Place> indexed(const model::FilterInstruction& instruction) {
        if (instruction.code == (BPF_LDX | BPF_B | BPF_MSH) && instruction.operand == ETH_HLEN)
            return Place{0, true};
        if (instruction.code == (BPF_LDX | BPF_W | BPF_IMM) && instruction.operand <= mostPlace)
            return Place{instruction.operand, false};
        return std::nullopt;
    }

    /// From where a load takes what it takes.
    [[nodiscard]] static std::optional<Place> source(const Way& way,
                                                     const model::FilterInstruction& instruction) {
        if (instruction.operand > mostPlace)
            return std::nullopt;
        if (BPF_MODE(instruction.code) == BPF_ABS)
            return Place{instruction.operand, false};
        if (BPF_MODE(instruction.code) != BPF_IND || !way.index)
            return std::nullopt;
        return Place{way.index->from + instruction.operand, way.index->headerLength};
    }

    [[nodiscard]] static Holds loaded(const Way& way, const model::FilterInstruction& instruction) {
        const auto place = source(way, instruction);
        if (!place)
            return Holds::anything;
        const auto is = [&](std::uint16_t size, std::uint32_t from, bool headerLength = false) {
            return BPF_SIZE(instruction.code) == size && place->from == from &&
                   place->headerLength == headerLength;
        };
        if (is(BPF_B, atDestination))
            return Holds::firstByte;
        if (is(BPF_H, atDestination))
            return Holds::head;
        if (is(BPF_W, atTail))
            return Holds::tail;
        if (is(BPF_H, atEtherType))
            return Holds::etherType;
        if (is(BPF_B, ETH_HLEN))
            return Holds::versionByte;
        if (is(BPF_B, atProtocol))
            return Holds::protocol;
        return is(BPF_H, atPort, true) ? Holds::destinationPort : Holds::anything;
    }

    static void compute(Way& way, const model::FilterInstruction& instruction) {
        const auto is = [&](Holds held, unsigned code, std::uint32_t operand) {
            return way.accumulator == held && instruction.code == (BPF_ALU | code) &&
                   instruction.operand == operand;
        };
        if (is(Holds::firstByte, BPF_AND | BPF_K, oneOfGroup)) {
            way.accumulator = Holds::groupBit;
        } else if (is(Holds::versionByte, BPF_AND | BPF_K, 0xf)) {
            way.accumulator = Holds::headerWords;
        } else if (is(Holds::headerWords, BPF_MUL | BPF_K, 4) || is(Holds::headerWords, BPF_LSH | BPF_K, 2)) {
            way.accumulator = Holds::headerLength;
        } else if (way.accumulator == Holds::headerLength &&
                   instruction.code == (BPF_ALU | BPF_ADD | BPF_X) && way.index && !way.index->headerLength) {
            way.accumulator = Holds::place;
            way.sum = {way.index->from, true};
        } else {
            way.accumulator = Holds::anything;
        }
    }

    [[nodiscard]] bool jump(const Way& way, const model::FilterInstruction& instruction) {
        Way taken = way;
        Way passed = way;
        if (BPF_OP(instruction.code) == BPF_JA) {
            if (instruction.operand >= filter_.size())
                return false;
            taken.next += instruction.operand;
            ways_.push_back(taken);
            return true;
        }
        taken.next += instruction.onTrue;
        passed.next += instruction.onFalse;
        const bool equal = instruction.code == (BPF_JMP | BPF_JEQ | BPF_K);
        const auto known = way.known();
        if (equal)
            taken.learn(instruction.operand);
        if (!equal || !known || *known == instruction.operand)
            ways_.push_back(taken);
        if (!equal || !known || *known != instruction.operand)
            ways_.push_back(passed);
        return true;
    }

    const model::PacketFilter& filter_;
    std::vector<Way> ways_;
    unsigned steps_ = 0;
};

} // namespace

bool sparesForwarded(const model::PacketFilter& filter) {
    return !filter.empty() && filter.size() <= TNA_FILTER_LENGTH_MAX && Walk(filter).sparesForwarded();
}

std::vector<model::PacketFilter> sparing(const std::set<model::PacketFilter>& filters) {
    std::vector<model::PacketFilter> found;
    for (const auto& filter : filters)
        if (found.size() < TNA_FILTERS_MAX && sparesForwarded(filter))
            found.push_back(filter);
    return found;
}

} // namespace tna::assemble
