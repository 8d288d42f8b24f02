// SPDX-License-Identifier: Apache-2.0
#include "diff/random/packets.hpp"

namespace tna::diff {

namespace {
constexpr std::size_t flows = 24;
constexpr std::uint64_t largeFrames = 5;
constexpr unsigned icmpNumber = 1, tcpNumber = 6, udpNumber = 17, icmp6Number = 58;
constexpr Mac everybody{255, 255, 255, 255, 255, 255};
} // namespace

Packets::Packets(Chance& chance, Topology& topology)
    : chance_(chance), topology_(topology), large_(chance.apart(largeFrames)) {
    for (std::size_t i = 0; i < flows; i++)
        flows_.push_back(newFlow());
}

std::vector<Packet> introductions(const Topology& topology) {
    std::vector<Packet> packets;
    for (const auto& host : topology.hosts)
        for (const auto vlan : host.vlan != 0 ? std::vector{host.vlan} : topology.vlans[host.port]) {
            Writer writer(everybody, host.mac);
            if (vlan != 0)
                writer.tag(host.protocol, vlan);
            packets.push_back({host.port, writer.type(0x88b5).filling(46).done()});
        }
    return packets;
}

std::vector<Packet> greetings(const Topology& topology) {
    std::vector<Packet> packets;
    const auto& hosts = topology.hosts;
    for (std::size_t i = 0; i < hosts.size(); i++)
        for (std::size_t far = 1; far < hosts.size(); far++) {
            const auto& other = hosts[(i + far) % hosts.size()];
            if (other.net != hosts[i].net)
                continue;
            packets.push_back({hosts[i].port, Writer(other.mac, hosts[i].mac)
                                                  .packet(Header4{.from = hosts[i].ip4, .to = other.ip4},
                                                          udp(4000, 4000, 18, static_cast<unsigned>(i)))
                                                  .done()});
            break;
        }
    return packets;
}

std::size_t Packets::size() {
    return chance_.oneOf<std::size_t>(
        {0, 6, 18, 18, 18, 26, 26, 100, 500, 960, 1200, 1232, 1252, 1400, 1440, 1452, 1472});
}

Packets::Flow Packets::newFlow() {
    const auto& hosts = topology_.hosts;
    Flow flow{};
    flow.from = chance_.below(hosts.size());
    do {
        flow.to = chance_.below(hosts.size());
    } while (flow.to == flow.from);
    flow.six = chance_.once(2);
    const bool routed = topology_.gateways[hosts[flow.from].net].has_value();
    const auto farCount = flow.six ? topology_.far6.size() : topology_.far4.size();
    if (routed && farCount > 0 && chance_.once(topology_.spread.far))
        flow.far = 1 + chance_.below(farCount);
    if (farCount > 0 && topology_.spread.fromFar > 0 && chance_.once(topology_.spread.fromFar))
        flow.fromFar = 1 + chance_.below(farCount);
    flow.protocol = chance_.oneOf<unsigned>({udpNumber, udpNumber, tcpNumber, tcpNumber, icmpNumber});
    flow.fromPort = 1024 + chance_.below(50000);
    flow.toPort = chance_.oneOf<unsigned>({53, 68, 80, 443, 4001, 8080});
    flow.size = size();
    if (topology_.large && large_.once(4))
        flow.size = large_.oneOf<std::size_t>({1476, 1480, 1500, 1600, 2000, 3000, 4000, 8000, 8900});
    const auto own = hosts[flow.from].vlan;
    flow.vlan = own != 0 ? own : chance_.oneOf(topology_.vlans[hosts[flow.from].port]);
    return flow;
}

Packets::Draft Packets::draft(Flow& flow) {
    const auto& from = topology_.hosts[flow.from];
    const auto& to = topology_.hosts[flow.to];
    const auto gateway = topology_.gateways[from.net];
    const bool direct = (from.net == to.net && flow.far == 0) || !gateway;
    Draft draft{from.port, direct ? to.mac : *gateway, from.mac, {}, flow.six, {}, {}, {}};
    if (flow.vlan != 0)
        draft.tags.emplace_back(from.protocol, flow.vlan);
    const unsigned count = flow.sent++;
    const auto protocol = flow.protocol == icmpNumber && flow.six ? icmp6Number : flow.protocol;
    draft.header4 = {.from = flow.fromFar > 0 && !flow.six ? topology_.far4[flow.fromFar - 1] : from.ip4,
                     .to = flow.far > 0 && !flow.six ? topology_.far4[flow.far - 1] : to.ip4,
                     .id = static_cast<std::uint16_t>(count),
                     .protocol = static_cast<std::uint8_t>(protocol)};
    draft.header6 = {.from = flow.fromFar > 0 && flow.six ? topology_.far6[flow.fromFar - 1] : from.ip6,
                     .to = flow.far > 0 && flow.six ? topology_.far6[flow.far - 1] : to.ip6,
                     .protocol = static_cast<std::uint8_t>(protocol),
                     .first = static_cast<std::uint8_t>(protocol)};
    // No two segments follow each other, so that nobody merges them.
    draft.payload = flow.protocol == udpNumber ? udp(flow.fromPort, flow.toPort, flow.size, count)
                    : flow.protocol == tcpNumber
                        ? tcp(flow.fromPort, flow.toPort, flow.size, count, count * 70001U, 0x10)
                        : icmp(flow.six ? 128 : 8, 0, flow.fromPort, flow.size, count);
    return draft;
}

Frame Packets::write(const Draft& draft) {
    Writer writer(draft.to, draft.from);
    for (const auto& [protocol, tci] : draft.tags)
        writer.tag(protocol, tci);
    if (draft.six)
        writer.packet(draft.header6, draft.payload);
    else
        writer.packet(draft.header4, draft.payload);
    return writer.done();
}

Step Packets::next() {
    auto& flow = flows_[chance_.below(flows_.size())];
    if (chance_.once(topology_.spread.newFlow))
        flow = newFlow();
    if (chance_.once(8))
        return odd(flow);
    const auto usual = draft(flow);
    return Packet{usual.port, write(usual)};
}

Packet Packets::odd(Flow& flow) {
    if (chance_.once(10))
        return talk(chance_.oneOf(topology_.hosts));
    auto draft = this->draft(flow);
    for (unsigned times = 1 + chance_.below(2); times > 0; times--)
        strange(draft);
    Packet packet{draft.port, write(draft)};
    if (chance_.once(3))
        spoil(packet.frame);
    return packet;
}

} // namespace tna::diff
