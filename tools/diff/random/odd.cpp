// SPDX-License-Identifier: Apache-2.0
// Packets as they are rarely seen, or never.
#include "diff/random/packets.hpp"

#include <algorithm>

namespace tna::diff {

namespace {
using Bytes = std::vector<std::uint8_t>;

Address4 odd4(Chance& chance) {
    return address4(chance
                        .oneOf({"0.0.0.0", "0.1.2.3", "127.0.0.1", "10.0.0.0", "10.0.1.255", "10.0.2.1",
                                "10.0.0.1", "10.0.1.9", "10.77.0.1", "169.254.1.1", "192.88.99.1",
                                "224.0.0.1", "224.0.0.251", "239.1.1.1", "240.0.0.1", "255.255.255.255"})
                        .c_str());
}

Address6 odd6(Chance& chance) {
    return address6(chance
                        .oneOf({"::", "::1", "::2", "::ffff:10.0.1.2", "64:ff9b::1", "fe80::1", "fec0::1",
                                "ff02::1", "ff02::2", "ff0e::1", "fd00:0:0:1::", "fd00:0:0:2::1", "fd00::1",
                                "fd00:0:0:1::9", "fd77::1", "2002:a00:102::1"})
                        .c_str());
}

Mac oddMac(Chance& chance, const Topology& topology) {
    if (const auto gateway = topology.gateways[chance.below(topology.gateways.size())];
        gateway && chance.once(3))
        return *gateway;
    return chance.oneOf<Mac>({Mac{},
                              station(0x77),
                              {1, 0, 0x5e, 0, 0, 1},
                              {0x33, 0x33, 0, 0, 0, 1},
                              {1, 0x80, 0xc2, 0, 0, 0},
                              {1, 0x80, 0xc2, 0, 0, 0x0e},
                              {1, 0x80, 0xc2, 0, 0, 0x20},
                              {255, 255, 255, 255, 255, 255},
                              {2, 0, 0, 0, 0xff, 0},
                              {2, 0, 0, 0, 0xff, 0x11}});
}

/// Options that hosts and routers read, and garbage.
Bytes options4(Chance& chance) {
    switch (chance.below(7)) {
    case 0:
        return {1, 1, 1, 0};
    case 1:
        return {0x94, 4, 0, 0}; // router alert
    case 2:
        return {7, 7, 4, 0, 0, 0, 0, 0}; // record route
    case 3:
        return {0x44, 8, 5, 0, 0, 0, 0, 0}; // timestamp: with no address, so that time does not show
    case 4:
        return {chance.oneOf<std::uint8_t>({0x83, 0x89}), 7, 4, 10, 0, 3, 2, 0}; // source routes
    case 5:
        return Bytes(40, 1);
    default: {
        Bytes garbage(std::size_t{4} * (1 + chance.below(10)));
        std::ranges::generate(garbage, [&] { return chance.byte(); });
        garbage[0] = chance.oneOf<std::uint8_t>({0x86, 0x82, 0x99, 0, 7});
        return garbage;
    }
    }
}

/// A chain of extension headers, in any order and number.
void extend(Chance& chance, Header6& header) {
    struct Extension {
        std::uint8_t type;
        Bytes body; ///< its first byte is the type of the next one
    };
    std::vector<Extension> chain;
    for (unsigned count = 1 + chance.below(3); count > 0; count--)
        switch (chance.below(6)) {
        case 0:
            chain.push_back({0, {0, 0, 5, 2, 0, 0, 1, 0}}); // router alert
            break;
        case 1: // other hop-by-hop options, by what unknown ones demand
            chain.push_back(
                {0, {0, 0, chance.oneOf<std::uint8_t>({1, 0x1e, 0x5e, 0x9e, 0xde, 0xc2}), 4, 0, 0, 0, 0}});
            break;
        case 2:
            chain.push_back({43,
                             {0, 0, chance.oneOf<std::uint8_t>({0, 2, 3, 4}),
                              chance.oneOf<std::uint8_t>({0, 1}), 0, 0, 0, 0}});
            break;
        case 3:
            chain.push_back({44,
                             {0, 0, chance.oneOf<std::uint8_t>({0, 0, 1}),
                              chance.oneOf<std::uint8_t>({0, 1, 8}), 0, 0, 0, chance.byte()}});
            break;
        case 4:
            chain.push_back({60, {0, 0, 1, 4, 0, 0, 0, 0}});
            break;
        default: // authentication
            chain.push_back({51, {0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1}});
        }
    header.first = chain.front().type;
    for (std::size_t i = 0; i < chain.size(); i++) {
        chain[i].body[0] = i + 1 < chain.size() ? chain[i + 1].type : header.protocol;
        header.extensions.insert(header.extensions.end(), chain[i].body.begin(), chain[i].body.end());
    }
}
} // namespace

void Packets::strange4(Draft& draft) {
    auto& header = draft.header4;
    switch (chance_.below(8)) {
    case 0:
        header.ttl = chance_.oneOf<std::uint8_t>({0, 1, 1, 2, 255});
        break;
    case 1:
        header.tos = chance_.byte();
        break;
    case 2:
        header.fragment =
            chance_.oneOf<std::uint16_t>({0x2000, 0x4000, 0x6000, 0x8000, 0x2001, 0x0003, 0x1fff});
        break;
    case 3:
        header.protocol = chance_.oneOf<std::uint8_t>({0, 1, 2, 4, 6, 41, 47, 50, 51, 58, 89, 132, 255});
        break;
    case 4:
        header.options = options4(chance_);
        break;
    case 5:
        header.from = odd4(chance_);
        break;
    default:
        header.to = odd4(chance_);
    }
}

void Packets::strange6(Draft& draft) {
    auto& header = draft.header6;
    switch (chance_.below(7)) {
    case 0:
        header.hops = chance_.oneOf<std::uint8_t>({0, 1, 1, 2, 255});
        break;
    case 1:
        header.flow = chance_.number() & 0xfffffffU;
        break;
    case 2:
        header.first = header.protocol =
            chance_.oneOf<std::uint8_t>({0, 4, 6, 17, 41, 43, 44, 50, 51, 58, 59, 60, 89, 135, 255});
        break;
    case 3:
    case 4:
        if (header.extensions.empty())
            extend(chance_, header);
        break;
    case 5:
        header.from = odd6(chance_);
        break;
    default:
        header.to = odd6(chance_);
    }
}

void Packets::strange(Draft& draft) {
    switch (chance_.below(10)) {
    case 0:
        draft.to = oddMac(chance_, topology_);
        break;
    case 1:
        if (chance_.once(2))
            draft.from = oddMac(chance_, topology_);
        else
            draft.from = chance_.oneOf(topology_.hosts).mac;
        break;
    case 2: // from where it is not at home
        if (chance_.once(3))
            draft.port = chance_.below(topology_.vlans.size());
        break;
    case 3:
        if (draft.tags.size() < 3)
            draft.tags.emplace_back(
                chance_.oneOf<unsigned>({0x8100, 0x8100, 0x88a8, 0x9100}),
                chance_.oneOf<unsigned>({0, 1, 10, 20, 0xe00a, 0x100a, 4095, chance_.number() & 0xffffU}));
        break;
    case 4:
        draft.payload.resize(chance_.oneOf<std::size_t>(
                                 {0, 1, 3, 7, 8, 1232, 1260, 1452, 1480, 1481, 1484, 1500, 2000, 4000, 8900}),
                             0x5a);
        break;
    default:
        if (draft.six)
            strange6(draft);
        else
            strange4(draft);
    }
}

/// ARP and neighbour discovery, group membership, and what is no IP.
Packet Packets::talk(const Host& host) {
    const auto gateway = topology_.gateways[host.net];
    const auto to = gateway && chance_.once(2) ? *gateway : Mac{255, 255, 255, 255, 255, 255};
    const auto& other = chance_.oneOf(topology_.hosts);
    Writer writer(to, host.mac);
    if (host.vlan != 0)
        writer.tag(host.protocol, host.vlan);
    switch (chance_.below(5)) {
    case 0: { // ARP: questions and answers
        Bytes body{0, 1, 8, 0, 6, 4, 0, chance_.oneOf<std::uint8_t>({1, 1, 2, 8})};
        const auto add = [&](const Mac& mac, Address4 address) {
            body.insert(body.end(), mac.begin(), mac.end());
            for (unsigned shift = 32; shift > 0; shift -= 8)
                body.push_back(static_cast<std::uint8_t>(address >> (shift - 8)));
        };
        add(host.mac, host.ip4);
        add({}, chance_.once(2) ? address4(host.net, 1) : other.ip4);
        body.resize(46);
        return {host.port, writer.type(0x0806).bytes(body).done()};
    }
    case 1: { // neighbour solicitation and advertisement
        const auto target = chance_.once(2) ? address6(host.net, 1) : other.ip6;
        const bool question = chance_.once(2);
        Bytes body(question ? std::initializer_list<std::uint8_t>{135, 0, 0, 0, 0, 0, 0, 0}
                            : std::initializer_list<std::uint8_t>{136, 0, 0, 0, 0x60, 0, 0, 0});
        const auto& about = question ? target : host.ip6;
        body.insert(body.end(), about.begin(), about.end());
        body.insert(body.end(), {static_cast<std::uint8_t>(question ? 1 : 2), 1});
        body.insert(body.end(), host.mac.begin(), host.mac.end());
        return {host.port,
                writer
                    .packet(Header6{.from = host.ip6, .to = target, .hops = 255, .protocol = 58, .first = 58},
                            body)
                    .done()};
    }
    case 2: // IGMP
        return {host.port, Writer({1, 0, 0x5e, 1, 1, 1}, host.mac)
                               .packet(Header4{.from = host.ip4,
                                               .to = address4("239.1.1.1"),
                                               .ttl = 1,
                                               .protocol = 2,
                                               .options = {0x94, 4, 0, 0}},
                                       {0x16, 0, 0xfa, 0xfc, 239, 1, 1, 1})
                               .done()};
    default:
        return {host.port, writer
                               .type(chance_.oneOf<unsigned>({0x88b5, 0x8035, 0x88e3, 0x8902, 0x0026, 0x05ff,
                                                              0x88cc, 0x8863, 0x8847, 0x0800, 0x86dd}))
                               .filling(chance_.below(100), chance_.number())
                               .done()};
    }
}

/// Bytes that are wrong, missing or too many.
void Packets::spoil(Frame& frame) {
    switch (chance_.below(5)) {
    case 0: // truncated anywhere
        frame.resize(ethernet + chance_.below(std::max<std::size_t>(frame.size() - ethernet, 1)));
        break;
    case 1: // padded
        frame.resize(frame.size() + chance_.oneOf<std::size_t>({1, 2, 4, 6, 40}), 0xee);
        break;
    default: {
        const auto at = ethernet + chance_.below(std::min<std::size_t>(frame.size() - ethernet, 60) + 1);
        if (at >= frame.size())
            break;
        frame[at] =
            chance_.once(2) ? chance_.byte() : static_cast<std::uint8_t>(frame[at] ^ 1U << chance_.below(8));
        if (!chance_.once(4) && wordAt(frame, ethernet - 2) == 0x0800)
            finishHeader4(frame);
    }
    }
}

} // namespace tna::diff
