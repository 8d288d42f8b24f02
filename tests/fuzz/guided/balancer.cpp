// SPDX-License-Identifier: Apache-2.0
// Frames for tna-balancer, one behind the other, and its configuration: what it leaves or drops is not
// changed, what it changes is changed where it says, and checksums are as right or wrong as before.
#include "balancer.hpp"
#include "fuzz/guided/target.hpp"
#include "support/packets.hpp"

#include <algorithm>

namespace tna::fuzz {

namespace {

namespace lb = balancer;
using packets::Bytes;

constexpr std::uint32_t mostSessions = 16;
const std::string services = R"(
sessions = 16
adopt = 20
[[service]]
address = "192.0.2.80"
port = 80
table = 251
[[service.backend]]
address = "10.0.1.11"
port = 8080
[[service.backend]]
address = "10.0.1.12"
port = 8080
[[service]]
address = "192.0.2.81"
port = 80
affinity = "address"
table = 251
[[service.backend]]
address = "10.0.1.12"
port = 8080
[[service]]
protocol = "udp"
address = "2001:db8:2::80"
port = 53
idle = 3
table = 251
[[service.backend]]
address = "2001:db8:1::11"
[[service.backend]]
address = "2001:db8:1::12"
port = 5353
)";

lb::Configuration configured(const std::string& text) {
    auto configuration = lb::parseConfiguration(text, "fuzz");
    require(configuration.has_value(), "the configuration is refused");
    return std::move(*configuration);
}

/// Of words, without what checksums do not see: 0xffff is 0.
std::uint16_t sumOf(const Bytes& bytes) {
    return static_cast<std::uint16_t>(static_cast<std::uint16_t>(~packets::checksumOf(bytes)) % 0xffffU);
}

Bytes part(const Bytes& frame, std::size_t from, std::size_t to) {
    return {frame.begin() + static_cast<std::ptrdiff_t>(from),
            frame.begin() + static_cast<std::ptrdiff_t>(to)};
}

/// What the checksums of a packet are over, each as a sum.
std::vector<std::uint16_t> sumsOf(const Bytes& frame, const lb::Packet& packet) {
    const auto& outer = packet.outer;
    const bool six = !outer.from.address.isFour();
    const packets::Flow flow{lb::text(outer.from.address), lb::text(outer.to.address)};
    auto bytes = packet.kind == lb::Kind::error && !six
                     ? Bytes{}
                     : packets::pseudoOf(flow, outer.protocol, outer.end - outer.transport);
    const auto segment = part(frame, outer.transport, outer.end);
    bytes.insert(bytes.end(), segment.begin(), segment.end());
    std::vector<std::uint16_t> sums;
    if (packet.kind == lb::Kind::error || outer.protocol == lb::tcp || segment[6] + segment[7] != 0)
        sums.push_back(sumOf(bytes));
    if (!six)
        sums.push_back(sumOf(part(frame, outer.network, outer.transport)));
    if (packet.kind == lb::Kind::error && !six)
        sums.push_back(sumOf(part(frame, packet.quoted.network, packet.quoted.transport)));
    return sums;
}

void requireChange(const Bytes& before, const Bytes& after, lb::Outcome outcome) {
    const auto was = lb::parse(before), is = lb::parse(after);
    require(is.kind == was.kind && is.outer.end == was.outer.end, "it is another kind of packet");
    require(sumsOf(before, was) == sumsOf(after, is), "a checksum is another one");
    const bool isError = is.kind == lb::Kind::error;
    require(isError == (outcome == lb::Outcome::errorForwarded || outcome == lb::Outcome::errorReplied),
            "the outcome is another packet's");
    if (outcome == lb::Outcome::forwarded)
        require(is.outer.from == was.outer.from && is.outer.to != was.outer.to, "not its destination");
    if (outcome == lb::Outcome::replied)
        require(is.outer.to == was.outer.to && is.outer.from != was.outer.from, "not its source");
    if (outcome == lb::Outcome::errorForwarded)
        require(is.quoted.to == was.quoted.to && is.quoted.from != was.quoted.from &&
                    is.outer.to.address == is.quoted.from.address,
                "not who has sent what is quoted");
    if (outcome == lb::Outcome::errorReplied)
        require(is.quoted.from == was.quoted.from && is.quoted.to != was.quoted.to &&
                    is.outer.to.address == is.quoted.from.address,
                "not to whom what is quoted was sent");
    constexpr std::size_t network = 14;
    require(std::equal(before.begin(), before.begin() + network, after.begin()),
            "not only the packet is changed");
    require(part(before, was.outer.end, before.size()) == part(after, is.outer.end, after.size()),
            "what is behind it is changed");
}

void treat(lb::Balancer& balancer, const Bytes& frame, std::uint32_t now) {
    auto changed = frame;
    changed.shrink_to_fit(); // bytes behind it are nobody's
    const auto outcome = balancer.treat(changed, now);
    if (outcome <= lb::Outcome::errorReplied)
        requireChange(frame, changed, outcome);
    else
        require(changed == frame, "it is changed");
    require(balancer.affinity().sessions().size() <= mostSessions, "there are too many sessions");
}

std::string inputOf(std::uint8_t mode, const std::vector<Bytes>& packets) {
    std::string text(1, static_cast<char>(mode));
    for (const auto& packet : packets) {
        text += static_cast<char>((packet.size() + 14) >> 8U);
        text += static_cast<char>(packet.size() + 14);
        text.append(12, 0);
        text += packet[0] >> 4U == 6 ? "\x86\xdd" : std::string("\x08\x00", 2);
        text.append(packet.begin(), packet.end());
    }
    return text;
}
constexpr std::uint8_t isConfiguration = 1, changes = 2;
} // namespace

std::vector<std::string> seeds() {
    using namespace packets;
    const Flow asked{"198.51.100.2", "192.0.2.80", 4000, 80}, there{"198.51.100.2", "10.0.1.11", 4000, 8080};
    const auto turned = [](const Flow& flow) { return Flow{flow.to, flow.from, flow.toPort, flow.fromPort}; };
    const Flow asked6{"2001:db8::2", "2001:db8:2::80", 4000, 53};
    const Flow there6{"2001:db8::2", "2001:db8:1::11", 4000, 53};
    const std::vector<Bytes> all{
        tcpPacket(asked, 2),
        tcpPacket({asked.from, "10.0.1.12", 8080, 4000}, 0x12),
        tcpPacket(turned(there), 0x12),
        tcpPacket(turned(there), 0x10),
        tcpPacket(asked, 0x11),
        udpPacket(asked6),
        udpPacket(turned(there6)),
        errorPacket({"203.0.113.1", asked.to}, 3, 4, tcpPacket(turned(asked), 0x10), {0, 0, 5, 0}),
        errorPacket({there.to, asked.from}, 3, 3, tcpPacket(there, 0x10)),
        errorPacket({"2001:db8:7::1", asked6.to}, 2, 0, udpPacket(turned(asked6)), {0, 0, 5, 0}),
        errorPacket({there6.to, asked6.from}, 1, 4, udpPacket(there6)),
    };
    std::vector<std::string> inputs{inputOf(0, all), inputOf(changes, all)};
    for (const auto& packet : all)
        inputs.push_back(inputOf(0, {packet}));
    inputs.push_back(static_cast<char>(isConfiguration) + services);
    inputs.push_back(
        static_cast<char>(isConfiguration) +
        std::string("[[service]]\naddress = \"10.1.1.1\"\nport = 1\nprotocol = \"udp\"\nidle = 1\n"
                    "table = 251\nname = \"x\"\naffinity = \"connection\"\n"
                    "check = { kind = \"tcp\", port = 5, interval = 50, timeout = 10, rise = 1, "
                    "fall = 1 }\nbackend = [{ address = \"10.1.1.2\", port = 2, weight = 3 }]\n"));
    return inputs;
}

void prepare() {}

void run(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return;
    const auto mode = data[0];
    if ((mode & isConfiguration) != 0) {
        const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
        const auto configuration = lb::parseConfiguration(text, "fuzz");
        // What is right, but large, takes longer than is worth it.
        constexpr unsigned large = 10007;
        if (!configuration || configuration->sessions > large)
            return;
        for (const auto& service : configuration->services)
            if (service.table > large)
                return;
        lb::Balancer balancer(configured(services), 1);
        balancer.reconfigure(*configuration);
        balancer.reconfigure(configured(services));
        return;
    }
    lb::Balancer balancer(configured(services), 1);
    balancer.setOwnAddresses({lb::parseAddress("10.0.1.1").value()});
    std::uint32_t now = 0;
    for (std::size_t at = 1; at + 2 <= size; now++) {
        const std::size_t length =
            std::min<std::size_t>(static_cast<std::size_t>(data[at] << 8U | data[at + 1]), size - at - 2);
        at += 2;
        treat(balancer, Bytes(data + at, data + at + length), now);
        at += length;
        if ((mode & changes) != 0)
            balancer.setUp(0, now % 2, now % 3 == 0);
    }
}

} // namespace tna::fuzz
