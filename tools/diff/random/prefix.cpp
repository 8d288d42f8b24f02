// SPDX-License-Identifier: Apache-2.0
#include "diff/random/prefix.hpp"

#include <fmt/format.h>

namespace tna::diff {

namespace {
void setBit(Address6& bytes, unsigned bit, bool on) {
    const auto mask = static_cast<std::uint8_t>(0x80U >> bit % 8);
    auto& byte = bytes[bit / 8];
    byte = static_cast<std::uint8_t>(on ? byte | mask : byte & ~mask);
}

/// Adds one to the number that the first bits are, or takes one away.
Address6 next(Address6 bytes, unsigned bits, bool up) {
    for (unsigned bit = bits; bit-- > 0;) {
        const bool one = (bytes[bit / 8] & 0x80U >> bit % 8) != 0;
        setBit(bytes, bit, !one);
        if (one != up)
            break;
    }
    return bytes;
}
} // namespace

Prefix Prefix::cut(unsigned to) const {
    Prefix made{six, base, to};
    for (unsigned bit = to; bit < bits(); bit++)
        setBit(made.base, bit, false);
    return made;
}

Prefix Prefix::within(Chance& chance, unsigned to) const {
    Prefix made = cut(std::min(length, to));
    made.length = to;
    for (unsigned bit = length; bit < to; bit++)
        setBit(made.base, bit, chance.once(2));
    return made;
}

Prefix Prefix::after(unsigned times) const {
    Prefix made = cut(length);
    for (; times > 0; times--)
        made.base = next(made.base, length, true);
    return made;
}

Address6 Prefix::last() const {
    auto bytes = base;
    for (unsigned bit = length; bit < bits(); bit++)
        setBit(bytes, bit, true);
    return bytes;
}

std::vector<Address6> Prefix::edges(Chance& chance) const {
    return {first(), last(), next(first(), bits(), false), next(last(), bits(), true),
            within(chance, bits()).base};
}

std::string Prefix::text() const {
    const auto bytes = first();
    return fmt::format("{}/{}", six ? text6(bytes) : text4(asAddress4(bytes)), length);
}

Address4 asAddress4(const Address6& bytes) {
    return Address4{bytes[0]} << 24U | Address4{bytes[1]} << 16U | Address4{bytes[2]} << 8U | bytes[3];
}

Address6 asBytes(Address4 address) {
    Address6 bytes{};
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = static_cast<std::uint8_t>(address >> (24 - 8 * i));
    return bytes;
}

} // namespace tna::diff
