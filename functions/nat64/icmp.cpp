// SPDX-License-Identifier: Apache-2.0
#include "icmp.hpp"

#include <algorithm>
#include <array>

namespace tna::nat64 {

namespace {

constexpr std::uint8_t unreachable4 = 3, timeExceeded4 = 11, parameter4 = 12;
constexpr std::uint8_t unreachable6 = 1, tooBig6 = 2, timeExceeded6 = 3, parameter6 = 4;
constexpr std::uint32_t difference = 20; ///< between the headers' lengths
constexpr std::uint32_t lowest4 = 68, lowest6 = 1280;

/// The greatest MTU below a length that networks had (RFC 1191, 7).
std::uint32_t plateauBelow(std::size_t length) {
    static constexpr std::array<std::uint32_t, 10> plateaus{32000, 17914, 8166, 4352, 2002,
                                                            1492,  1006,  508,  296,  68};
    const auto* const found = std::ranges::find_if(plateaus, [&](auto plateau) { return plateau < length; });
    return found == plateaus.end() ? lowest4 : *found;
}

std::optional<ErrorHead> unreachableTo6(const ErrorHead& head, std::size_t length) {
    switch (head.code) {
    case 0:
    case 1:
    case 5:
    case 6:
    case 7:
    case 8:
    case 11:
    case 12:
        return ErrorHead{unreachable6, 0, 0};
    case 2: // protocol: its number is in the field of the next header
        return ErrorHead{parameter6, 1, 6};
    case 3:
        return ErrorHead{unreachable6, 4, 0};
    case 4: {
        const auto said = head.rest & 0xffffU;
        return ErrorHead{tooBig6, 0,
                         std::max((said != 0 ? said : plateauBelow(length)) + difference, lowest6)};
    }
    case 9:
    case 10:
    case 13:
    case 15:
        return ErrorHead{unreachable6, 1, 0};
    default:
        return std::nullopt;
    }
}

/// Which byte of one header has what a byte of the other one has.
std::optional<std::uint32_t> pointerTo6(std::uint32_t pointer) {
    switch (pointer) {
    case 0:
    case 1:
        return pointer;
    case 2:
    case 3:
        return 4;
    case 8:
        return 7;
    case 9:
        return 6;
    default:
        if (pointer >= 12 && pointer < 16)
            return 8;
        return pointer >= 16 && pointer < 20 ? std::optional(24U) : std::nullopt;
    }
}

std::optional<std::uint32_t> pointerTo4(std::uint32_t pointer) {
    switch (pointer) {
    case 0:
    case 1:
        return pointer;
    case 4:
    case 5:
        return 2;
    case 6:
        return 9;
    case 7:
        return 8;
    default:
        if (pointer >= 8 && pointer < 24)
            return 12;
        return pointer >= 24 && pointer < 40 ? std::optional(16U) : std::nullopt;
    }
}

} // namespace

std::optional<ErrorHead> errorHeadTo6(const ErrorHead& head, std::size_t length) {
    switch (head.type) {
    case unreachable4:
        return unreachableTo6(head, length);
    case timeExceeded4:
        return ErrorHead{timeExceeded6, head.code, 0};
    case parameter4:
        if (head.code == 0 || head.code == 2)
            if (const auto pointer = pointerTo6(head.rest >> 24U))
                return ErrorHead{parameter6, 0, *pointer};
        return std::nullopt;
    default:
        return std::nullopt;
    }
}

std::optional<ErrorHead> errorHeadTo4(const ErrorHead& head) {
    switch (head.type) {
    case unreachable6:
        switch (head.code) {
        case 0:
        case 2:
        case 3:
            return ErrorHead{unreachable4, 1, 0};
        case 1:
            return ErrorHead{unreachable4, 10, 0};
        case 4:
            return ErrorHead{unreachable4, 3, 0};
        default:
            return std::nullopt;
        }
    case tooBig6: {
        const auto mtu = std::min<std::uint32_t>(head.rest, 0xffff + difference);
        return ErrorHead{unreachable4, 4, std::max(mtu, lowest4 + difference) - difference};
    }
    case timeExceeded6:
        return ErrorHead{timeExceeded4, head.code, 0};
    case parameter6:
        if (head.code == 1)
            return ErrorHead{unreachable4, 2, 0};
        if (head.code == 0)
            if (const auto pointer = pointerTo4(head.rest))
                return ErrorHead{parameter4, 0, *pointer << 24U};
        return std::nullopt;
    default:
        return std::nullopt;
    }
}

} // namespace tna::nat64
