// SPDX-License-Identifier: Apache-2.0
#include "packets.hpp"

#include "router_world.hpp"
#include "support/ipv4.hpp"
#include "support/ipv6.hpp"

#include <fmt/format.h>

namespace tna::test {

namespace {
constexpr std::size_t header = 14;
constexpr std::size_t longest = 1472;

std::string odd(Chance& chance, int version) {
    if (version == 4)
        return chance.oneOf<std::string>({"0.0.0.0", "0.1.2.3", "127.0.0.1", "10.0.0.0", "10.0.1.255",
                                          "169.254.1.1", "192.88.99.1", "224.0.0.1", "239.1.1.1", "240.0.0.1",
                                          "255.255.255.255", "10.0.2.1", "10.77.0.1"});
    return chance.oneOf<std::string>({"::", "::1", "::2", "::ffff:10.0.1.2", "64:ff9b::1", "fe80::1",
                                      "fec0::1", "ff02::1", "ff0e::1", "fd00:0:0:1::", "fd00:0:0:2::1",
                                      "fd77::1", "2002:a00:102::1"});
}

std::string host(Chance& chance, int version, unsigned port) {
    return RouterWorld::address(version, port, 2 + static_cast<unsigned>(chance.below(2)));
}

std::string destination(Chance& chance, int version) {
    if (chance.below(14) == 0)
        return odd(chance, version);
    if (chance.below(3) == 0)
        return farDestination(chance, version);
    const auto port = static_cast<unsigned>(chance.below(RouterWorld::ports));
    if (chance.below(12) == 0)
        return RouterWorld::address(version, port, chance.oneOf({1U, 9U}));
    return host(chance, version, port);
}

std::string source(Chance& chance, int version, unsigned port) {
    if (chance.below(14) == 0)
        return odd(chance, version);
    if (chance.below(8) == 0)
        return farDestination(chance, version);
    return host(chance, version, port);
}

std::size_t payload(Chance& chance) {
    return chance.oneOf<std::size_t>(
        {0, 6, 26, 26, 26, 100, 972, 973, 1252, 1253, 1000, 1440, 1460, longest});
}

Frame ipv4(Chance& chance, const Mac& to, const Mac& from, unsigned port) {
    Ipv4 fields{.from = source(chance, 4, port), .to = destination(chance, 4)};
    fields.payload = std::min(payload(chance), longest);
    fields.id = static_cast<std::uint16_t>(chance.below(4));
    if (chance.below(6) == 0)
        fields.tos = static_cast<std::uint8_t>(chance.number());
    if (chance.below(8) == 0)
        fields.ttl = chance.oneOf<std::uint8_t>({0, 1, 2, 255});
    if (chance.below(8) == 0)
        fields.fragment =
            chance.oneOf<std::uint16_t>({0x2000, 0x4000, 0x6000, 0x8000, 0x2001, 0x0003, 0x1fff});
    if (chance.below(8) == 0)
        fields.protocol = chance.oneOf<std::uint8_t>({0, 1, 2, 4, 6, 41, 47, 50, 51, 58, 89, 132, 255});
    if (chance.below(16) == 0)
        fields.options = chance.oneOf<std::size_t>({4, 8, 40});
    return ipv4Frame(to, from, fields);
}

Frame ipv6(Chance& chance, const Mac& to, const Mac& from, unsigned port) {
    Ipv6 fields{.from = source(chance, 6, port), .to = destination(chance, 6)};
    fields.payload = std::min(payload(chance), longest - 12);
    if (chance.below(6) == 0)
        fields.flow = chance.number() & 0xfffffffU;
    if (chance.below(8) == 0)
        fields.hops = chance.oneOf<std::uint8_t>({0, 1, 2, 255});
    if (chance.below(5) == 0)
        fields.next = chance.oneOf<std::uint8_t>({0, 4, 6, 17, 41, 43, 44, 50, 51, 58, 60, 89, 135, 255});
    auto frame = ipv6Frame(to, from, fields);
    if (fields.payload >= 26 && chance.below(2) == 0) { // an extension header that makes sense
        const std::initializer_list<std::uint8_t> types{0, 2, 5, 0xc2, 0x45, 0xc5, 1};
        std::size_t at = header + 40;
        for (const std::uint8_t byte : {chance.oneOf<std::uint8_t>({17, 59, 58, 44}), std::uint8_t{0},
                                        chance.oneOf(types), chance.oneOf<std::uint8_t>({0, 1, 2, 4}),
                                        std::uint8_t{0}, std::uint8_t{0}, std::uint8_t{0}, std::uint8_t{0}})
            frame.bytes[at++] = byte;
    }
    return frame;
}

void spoil(Chance& chance, Frame& frame) {
    auto& bytes = frame.bytes;
    switch (chance.below(4)) {
    case 0:
        bytes.resize(header + chance.below(bytes.size() - header));
        break;
    case 1:
        bytes.resize(std::min<std::size_t>(bytes.size() + chance.oneOf({1, 2, 6, 40}), 1514), 0xee);
        break;
    default: {
        const auto at = header + chance.below(std::min<std::size_t>(bytes.size() - header, 44));
        bytes[at] = chance.below(2) == 0 ? static_cast<std::uint8_t>(chance.number())
                                         : static_cast<std::uint8_t>(bytes[at] ^ 1U << chance.below(8));
        if (chance.below(4) != 0 && bytes[12] == 8 && bytes.size() >= header + 20)
            finishIpv4(frame);
    }
    }
}

Mac routerMac(Chance& chance, unsigned port) {
    if (chance.below(24) != 0)
        return RouterWorld::portMac(port);
    return chance.oneOf<Mac>({Mac{255, 255, 255, 255, 255, 255}, Mac{1, 0, 0x5e, 0, 0, 1},
                              Mac{0x33, 0x33, 0, 0, 0, 1}, station(9), RouterWorld::portMac((port + 1) % 4)});
}
} // namespace

std::string farDestination(Chance& chance, int version) {
    const auto subnet = chance.below(3);
    return version == 4 ? fmt::format("10.9.{}.{}", subnet, 1 + chance.below(3))
                        : fmt::format("fd09:{}::{}", subnet, 1 + chance.below(3));
}

Send randomPacket(Chance& chance) {
    const auto port = static_cast<unsigned>(chance.below(RouterWorld::ports));
    const auto to = routerMac(chance, port);
    const auto from = station(2 * port + static_cast<unsigned>(chance.below(2)));
    auto frame = chance.below(2) == 0 ? ipv4(chance, to, from, port) : ipv6(chance, to, from, port);
    if (chance.below(8) == 0)
        spoil(chance, frame);
    return {port, std::move(frame)};
}

} // namespace tna::test
