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
constexpr std::uint32_t behindHeader =
    ETH_HLEN + 2; ///< of a destination port, from the end of the IP header on

/// What the accumulator holds, as far as it matters.
enum class Holds { anything, firstByte, groupBit, head, tail, etherType, protocol, destinationPort };

/// What is known of a frame at some instruction, on one way to it.
struct Way {
    std::size_t next = 0;
    Holds accumulator = Holds::anything;
    bool headerLength = false;         ///< in the index register, of the IPv4 header
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
        case Holds::firstByte:
        case Holds::anything:
            break;
        }
        return std::nullopt;
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
        case Holds::firstByte:
        case Holds::groupBit:
        case Holds::anything:
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
            way.headerLength =
                instruction.code == (BPF_LDX | BPF_B | BPF_MSH) && instruction.operand == ETH_HLEN;
            break;
        case BPF_ALU:
            way.accumulator = way.accumulator == Holds::firstByte &&
                                      instruction.code == (BPF_ALU | BPF_AND | BPF_K) &&
                                      instruction.operand == oneOfGroup
                                  ? Holds::groupBit
                                  : Holds::anything;
            break;
        case BPF_MISC:
            if (BPF_MISCOP(instruction.code) == BPF_TAX)
                way.headerLength = false;
            else
                way.accumulator = Holds::anything;
            break;
        default: // to the scratch memory, of which nothing is known
            break;
        }
        ways_.push_back(way);
        return true;
    }

    [[nodiscard]] static Holds loaded(const Way& way, const model::FilterInstruction& instruction) {
        if (instruction.code == (BPF_LD | BPF_B | BPF_ABS) && instruction.operand == atDestination)
            return Holds::firstByte;
        if (instruction.code == (BPF_LD | BPF_H | BPF_ABS) && instruction.operand == atDestination)
            return Holds::head;
        if (instruction.code == (BPF_LD | BPF_W | BPF_ABS) && instruction.operand == atTail)
            return Holds::tail;
        if (instruction.code == (BPF_LD | BPF_H | BPF_ABS) && instruction.operand == atEtherType)
            return Holds::etherType;
        if (instruction.code == (BPF_LD | BPF_B | BPF_ABS) && instruction.operand == atProtocol)
            return Holds::protocol;
        if (instruction.code == (BPF_LD | BPF_H | BPF_IND) && instruction.operand == behindHeader &&
            way.headerLength)
            return Holds::destinationPort;
        return Holds::anything;
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
