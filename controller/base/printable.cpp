// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>

namespace tna {

namespace {
struct Character {
    std::size_t size;    ///< in bytes; 0: these are no UTF-8
    std::uint32_t point; ///< of Unicode
};

constexpr bool continues(char letter) {
    return (static_cast<unsigned char>(letter) & 0xc0U) == 0x80;
}

/// The first character of a text that is not empty.
Character first(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    if (lead < 0x80)
        return {1, lead};
    const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < size)
        return {0, lead};
    std::uint32_t point = lead & (0xffU >> (size + 1));
    for (const char letter : text.substr(1, size - 1)) {
        if (!continues(letter))
            return {0, lead};
        point = point << 6U | (static_cast<unsigned char>(letter) & 0x3fU);
    }
    constexpr std::array<std::uint32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = point >= 0xd800 && point <= 0xdfff;
    if (point < smallest.at(size) || surrogate || point > 0x10ffff)
        return {0, lead};
    return {size, point};
}

/// Whether a terminal does something else than to show it.
constexpr bool acts(std::uint32_t point) {
    const bool control = point < 0x20 || (point >= 0x7f && point <= 0x9f);
    const bool turns = point == 0x61c || point == 0x200e || point == 0x200f ||
                       (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
    return control || turns || point == 0xfeff;
}

std::string escaped(std::string_view text, std::string_view kept) {
    std::string out;
    while (!text.empty()) {
        const auto [size, point] = first(text);
        if (size == 0)
            out += fmt::format("\\x{:02x}", point);
        else if (acts(point) && (size > 1 || kept.find(text.front()) == std::string_view::npos))
            out += size == 1 ? fmt::format("\\x{:02x}", point) : fmt::format("\\u{{{:x}}}", point);
        else
            out += text.substr(0, size);
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return out;
}
} // namespace

std::string printable(std::string_view text) {
    return escaped(text, "");
}

std::string printableLines(std::string_view text) {
    return escaped(text, "\n\t");
}

std::size_t widthOf(std::string_view text) {
    return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, continues));
}

} // namespace tna
