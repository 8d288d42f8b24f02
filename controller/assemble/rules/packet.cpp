// SPDX-License-Identifier: Apache-2.0
#include "assemble/rules/packet.hpp"

#include <algorithm>
#include <cstring>
#include <linux/netfilter/nf_tables.h>

namespace tna::assemble::rules {

namespace {
Answer answerOf(bool holds) {
    return holds ? Answer::yes : Answer::no;
}

Answer equal(const Bits& bits, std::span<const std::uint8_t> with) {
    if (!bits.never.empty() && with.size() >= bits.never.size() &&
        std::ranges::equal(with.first(bits.never.size()), bits.never))
        return Answer::no;
    bool certain = true;
    for (std::size_t i = 0; i < with.size(); ++i) {
        if (((bits.value[i] ^ with[i]) & bits.known[i]) != 0)
            return Answer::no;
        certain &= bits.known[i] == 0xff;
    }
    return certain ? Answer::yes : Answer::maybe;
}
} // namespace

bool Bits::allKnown() const {
    return std::ranges::all_of(known, [](std::uint8_t mask) { return mask == 0xff; });
}

std::size_t Registers::placeOf(std::uint32_t name) {
    if (name >= NFT_REG_1 && name <= NFT_REG_4)
        return std::size_t{name - NFT_REG_1} * NFT_REG_SIZE;
    if (name >= NFT_REG32_00 && name <= NFT_REG32_15)
        return std::size_t{name - NFT_REG32_00} * NFT_REG32_SIZE;
    return size;
}

void Registers::store(std::uint32_t name, const Bits& bits) {
    const auto place = placeOf(name);
    if (!bits.never.empty() ||
        (place < neverPlace_ + never_.size() && neverPlace_ < place + bits.value.size())) {
        neverPlace_ = place;
        never_ = bits.never;
    }
    for (std::size_t i = 0; i < bits.value.size() && place + i < size; ++i) {
        value_[place + i] = bits.value[i];
        known_[place + i] = bits.known[i];
    }
    // The kernel clears what is left of the last word (nft_reg_store8, nft_payload_eval).
    for (auto i = place + bits.value.size(); i % NFT_REG32_SIZE != 0 && i < size; ++i) {
        value_[i] = 0;
        known_[i] = 0xff;
    }
}

Bits Registers::load(std::uint32_t name, std::size_t bytes) const {
    auto bits = Bits::unknown(bytes);
    const auto place = placeOf(name);
    for (std::size_t i = 0; i < bytes && place + i < size; ++i) {
        bits.value[i] = value_[place + i];
        bits.known[i] = known_[place + i];
    }
    if (place == neverPlace_ && never_.size() <= bytes)
        bits.never = never_;
    return bits;
}

Answer compare(const Bits& bits, std::uint32_t operation, std::span<const std::uint8_t> with) {
    if (bits.value.size() < with.size())
        return Answer::maybe;
    if (operation == NFT_CMP_EQ)
        return equal(bits, with);
    if (operation == NFT_CMP_NEQ)
        return opposite(equal(bits, with));
    if (!bits.allKnown())
        return Answer::maybe;
    const int order = std::memcmp(bits.value.data(), with.data(), with.size());
    switch (operation) {
    case NFT_CMP_LT:
        return answerOf(order < 0);
    case NFT_CMP_LTE:
        return answerOf(order <= 0);
    case NFT_CMP_GT:
        return answerOf(order > 0);
    case NFT_CMP_GTE:
        return answerOf(order >= 0);
    default:
        return Answer::maybe;
    }
}

Answer within(const Bits& bits, std::span<const std::uint8_t> low, std::span<const std::uint8_t> high) {
    if (!bits.allKnown() || bits.value.size() < low.size() || low.size() != high.size())
        return Answer::maybe;
    return answerOf(std::memcmp(bits.value.data(), low.data(), low.size()) >= 0 &&
                    std::memcmp(bits.value.data(), high.data(), high.size()) <= 0);
}

Bits masked(const Bits& bits, std::span<const std::uint8_t> mask, std::span<const std::uint8_t> flip) {
    auto out = bits;
    out.never.clear();
    for (std::size_t i = 0; i < out.value.size(); ++i) {
        const std::uint8_t kept = i < mask.size() ? mask[i] : 0;
        const std::uint8_t flipped = i < flip.size() ? flip[i] : 0;
        out.value[i] = static_cast<std::uint8_t>((out.value[i] & kept) ^ flipped);
        out.known[i] = static_cast<std::uint8_t>(out.known[i] | ~kept); // what is masked out is 0
    }
    return out;
}

} // namespace tna::assemble::rules
