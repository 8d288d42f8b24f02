// SPDX-License-Identifier: Apache-2.0
// Filters of packet sockets and frames by chance: one that is said to want nothing that is forwarded takes no
// such frame, by an interpreter that knows no more than what the instructions are.
#include "assemble/packet_filter.hpp"
#include "support/listening.hpp"

#include <algorithm>
#include <random>
#include <tna/fastpath.h>

namespace tna::assemble {
namespace {

using model::FilterInstruction;
using model::PacketFilter;
using Bytes = std::vector<std::uint8_t>;

/// bpf(4), of classic BPF; an access beyond the frame ends it with 0.
class Interpreter {
public:
    explicit Interpreter(const Bytes& frame) : frame_(frame) {}

    std::uint32_t run(const PacketFilter& filter) {
        for (std::size_t at = 0; at < filter.size(); at++) {
            const auto& one = filter[at];
            const auto operand = BPF_SRC(one.code) == BPF_X ? x_ : one.operand;
            switch (BPF_CLASS(one.code)) {
            case BPF_RET:
                return BPF_RVAL(one.code) == BPF_A ? a_ : one.operand;
            case BPF_JMP:
                at += BPF_OP(one.code) == BPF_JA ? one.operand
                      : holds(one.code, operand) ? one.onTrue
                                                 : one.onFalse;
                break;
            case BPF_LD:
                if (!load(one))
                    return 0;
                break;
            case BPF_LDX:
                if (one.code == (BPF_LDX | BPF_B | BPF_MSH)) {
                    if (one.operand >= frame_.size())
                        return 0;
                    x_ = (frame_[one.operand] & 0xfU) * 4;
                } else {
                    x_ = BPF_MODE(one.code) == BPF_MEM ? memory_.at(one.operand) : one.operand;
                }
                break;
            case BPF_ST:
                memory_.at(one.operand) = a_;
                break;
            case BPF_STX:
                memory_.at(one.operand) = x_;
                break;
            case BPF_ALU:
                compute(one.code, operand);
                break;
            default:
                (BPF_MISCOP(one.code) == BPF_TAX ? x_ : a_) = BPF_MISCOP(one.code) == BPF_TAX ? a_ : x_;
                break;
            }
        }
        ADD_FAILURE() << "a filter without an end";
        return 0;
    }

private:
    [[nodiscard]] bool holds(std::uint16_t code, std::uint32_t operand) const {
        switch (BPF_OP(code)) {
        case BPF_JEQ:
            return a_ == operand;
        case BPF_JGT:
            return a_ > operand;
        case BPF_JGE:
            return a_ >= operand;
        default:
            return (a_ & operand) != 0;
        }
    }
    void compute(std::uint16_t code, std::uint32_t operand) {
        switch (BPF_OP(code)) {
        case BPF_AND:
            a_ &= operand;
            break;
        case BPF_MUL:
            a_ *= operand;
            break;
        case BPF_LSH:
            a_ <<= operand;
            break;
        default:
            a_ += operand;
        }
    }
    bool load(const FilterInstruction& one) {
        if (BPF_MODE(one.code) == BPF_IMM || BPF_MODE(one.code) == BPF_MEM) {
            a_ = BPF_MODE(one.code) == BPF_IMM ? one.operand : memory_.at(one.operand);
            return true;
        }
        const std::uint32_t at = one.operand + (BPF_MODE(one.code) == BPF_IND ? x_ : 0U); // may wrap
        const std::size_t size = BPF_SIZE(one.code) == BPF_W ? 4 : BPF_SIZE(one.code) == BPF_H ? 2 : 1;
        if (std::size_t{at} + size > frame_.size())
            return false;
        a_ = 0;
        for (std::size_t i = 0; i < size; i++)
            a_ = a_ << 8U | frame_[at + i];
        return true;
    }

    const Bytes& frame_;
    std::uint32_t a_ = 0;
    std::uint32_t x_ = 0;
    std::array<std::uint32_t, BPF_MEMWORDS> memory_{};
};

class Chance {
public:
    explicit Chance(unsigned seed) : random_(seed) {}

    unsigned below(unsigned bound) { return std::uniform_int_distribution<unsigned>(0, bound - 1)(random_); }
    template <typename T>
    T any(std::initializer_list<T> of) {
        return *(of.begin() + below(static_cast<unsigned>(of.size())));
    }

    FilterInstruction instruction(unsigned left) {
        const auto skip = [&] { return static_cast<std::uint8_t>(below(std::min(left, 9U))); };
        const auto value = any<std::uint32_t>({ETH_P_IP, ETH_P_IPV6, ETH_P_ARP, ETH_P_8021Q, IPPROTO_UDP,
                                               IPPROTO_TCP, 53, 67, 68, 0x1fff, 0, 1, 20});
        const auto place = any<std::uint32_t>({0, 2, 12, 14, 16, 20, 22, 23, 36, 0xfffff000});
        switch (below(left == 0 ? 1 : 12)) {
        case 0:
            return {any<std::uint16_t>({BPF_RET | BPF_K, BPF_RET | BPF_K, BPF_RET | BPF_A}), 0, 0,
                    any<std::uint32_t>({0, 0, 0xffff})};
        case 1:
        case 2:
        case 3:
            return {BPF_JMP | BPF_JEQ | BPF_K, skip(), skip(), value};
        case 4:
            return {any<std::uint16_t>({BPF_JMP | BPF_JSET | BPF_K, BPF_JMP | BPF_JGT | BPF_K,
                                        BPF_JMP | BPF_JGE | BPF_K, BPF_JMP | BPF_JEQ | BPF_X}),
                    skip(), skip(), value};
        case 5:
            return {BPF_JMP | BPF_JA, 0, 0, skip()};
        case 6:
            return {BPF_LDX | BPF_B | BPF_MSH, 0, 0, any<std::uint32_t>({14, 14, 14, 15})};
        case 7:
            return {any<std::uint16_t>(
                        {BPF_LD | BPF_H | BPF_IND, BPF_LD | BPF_H | BPF_IND, BPF_LD | BPF_B | BPF_IND}),
                    0, 0, any<std::uint32_t>({16, 16, 14, 2, 0, 9, 0xfffffff2})};
        case 8:
            return computation(value);
        case 9:
            return {any<std::uint16_t>({BPF_ST, BPF_STX, BPF_LD | BPF_MEM, BPF_LDX | BPF_MEM}), 0, 0,
                    below(2)};
        case 10:
            return {any<std::uint16_t>({BPF_LD | BPF_IMM, BPF_LDX | BPF_IMM}), 0, 0,
                    any<std::uint32_t>({value, 14, 14, 0xfffffffe})};
        default:
            return {any<std::uint16_t>({BPF_LD | BPF_H | BPF_ABS, BPF_LD | BPF_H | BPF_ABS,
                                        BPF_LD | BPF_B | BPF_ABS, BPF_LD | BPF_W | BPF_ABS}),
                    0, 0, place};
        }
    }

    FilterInstruction computation(std::uint32_t value) {
        switch (below(7)) {
        case 0:
            return {BPF_ALU | BPF_MUL | BPF_K, 0, 0, any<std::uint32_t>({4, 4, 2})};
        case 1:
            return {BPF_ALU | BPF_LSH | BPF_K, 0, 0, any<std::uint32_t>({2, 2, 1})};
        case 2:
            return {BPF_ALU | BPF_ADD | BPF_X, 0, 0, 0};
        case 3:
            return {BPF_ALU | BPF_AND | BPF_K, 0, 0, any<std::uint32_t>({15, 15, 0xf0, value})};
        default:
            return {any<std::uint16_t>({BPF_MISC | BPF_TAX, BPF_MISC | BPF_TXA, BPF_ALU | BPF_ADD | BPF_K}),
                    0, 0, value};
        }
    }

    /// One that somebody uses with some other instructions, or any.
    PacketFilter filter() {
        const auto last = TNA_FILTER_LENGTH_MAX - 1U;
        PacketFilter filter;
        if (below(4) == 0) {
            const auto length = 1 + below(last);
            for (unsigned i = 0; i < length; i++)
                filter.push_back(instruction(length - 1 - i));
            return filter;
        }
        filter = below(4) == 0   ? test::lldp()
                 : below(3) == 0 ? test::dhcpcd(any<std::uint16_t>({67, 68, 68, 53}))
                 : below(8) == 0 ? test::dhcpcdArp()
                 : below(3) == 0
                     ? test::framesOf(any<std::uint16_t>({ETH_P_ARP, ETH_P_IP, ETH_P_8021Q, 0x88cc}))
                     : test::udpFor(any<std::uint16_t>({67, 68, 68, 53}));
        for (auto changes = below(4); changes > 0; changes--) {
            const auto at = below(static_cast<unsigned>(filter.size()));
            const auto another = instruction(static_cast<unsigned>(filter.size()) - 1 - at);
            if (BPF_CLASS(another.code) == BPF_JMP || BPF_CLASS(another.code) == BPF_RET || below(2) == 0)
                filter.at(at) = another;
            else
                insert(filter, at, another);
        }
        return filter;
    }

    /// Jumps over it lead where they led.
    static void insert(PacketFilter& filter, std::size_t at, const FilterInstruction& another) {
        for (std::size_t i = 0; i < at; i++) {
            auto& one = filter[i];
            if (BPF_CLASS(one.code) != BPF_JMP)
                continue;
            for (auto* skip : {&one.onTrue, &one.onFalse})
                *skip = static_cast<std::uint8_t>(*skip + (i + *skip >= at ? 1 : 0));
            if (BPF_OP(one.code) == BPF_JA)
                one.operand += i + one.operand >= at ? 1 : 0;
        }
        filter.insert(filter.begin() + static_cast<std::ptrdiff_t>(at), another);
    }

    /// That the fast path may forward while somebody listens, see filters_may_want().
    Bytes forwarded() {
        auto frame = framed();
        if (std::equal(frame.begin(), frame.begin() + 6, Bytes{0, 0xe0, 0x2b, 0, 0, 0}.begin()))
            frame[5] = 1;
        return frame;
    }

private:
    Bytes framed() {
        Bytes frame(64 + below(3) * 4);
        for (auto& byte : frame)
            byte = any<std::uint8_t>({0, 0, 17, 6, 67, 68, 0x45, 1, 0x80});
        if (below(8) == 0)
            std::ranges::copy(Bytes{0, 0xe0, 0x2b, 0, 0, any<std::uint8_t>({0, 1})}, frame.begin());
        frame[0] &= 0xfe;
        std::size_t at = 12;
        const auto put = [&](unsigned value) {
            frame[at++] = static_cast<std::uint8_t>(value >> 8U);
            frame[at++] = static_cast<std::uint8_t>(value);
        };
        for (auto tags = any<unsigned>({0, 0, 0, 1, 2}); tags > 0; tags--) {
            put(any<unsigned>({ETH_P_8021Q, ETH_P_8021AD}));
            put(below(4096));
        }
        if (below(4) == 0) {
            put(ETH_P_IPV6);
            return frame;
        }
        put(ETH_P_IP);
        frame[at] = any<std::uint8_t>({0x45, 0x45, 0x46, 0x4f});
        frame[at + 9] = any<std::uint8_t>({IPPROTO_TCP, IPPROTO_ICMP, IPPROTO_UDP, 47});
        if (frame[at + 9] == IPPROTO_UDP) {
            frame[at] = 0x45;
            frame[at + 6] &= 0xe0;
            frame[at + 7] = 0;
            frame[at + 22] = any<std::uint8_t>({0, 1, 68});
            frame[at + 23] = frame[at + 22] == 0 ? any<std::uint8_t>({53, 66, 69}) : std::uint8_t{68};
        }
        return frame;
    }

    std::mt19937 random_;
};

TEST(PacketFilters, ThatSpareWhatIsForwardedTakeNoneOfIt) {
    unsigned sparing = 0;
    unsigned taken = 0;
    for (unsigned seed = 0; seed < 20000; seed++) {
        Chance chance(seed);
        const auto filter = chance.filter();
        const bool spares = sparesForwarded(filter);
        sparing += spares ? 1 : 0;
        for (unsigned i = 0; i < 40; i++) {
            const auto frame = chance.forwarded();
            const auto answer = Interpreter(frame).run(filter);
            taken += answer != 0 ? 1 : 0;
            ASSERT_TRUE(!spares || answer == 0) << "seed " << seed << ", frame " << i;
        }
    }
    EXPECT_GT(sparing, 2000U) << "many are about nothing";
    EXPECT_GT(taken, 2000U);
}

} // namespace
} // namespace tna::assemble
