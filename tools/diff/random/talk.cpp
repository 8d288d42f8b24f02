// SPDX-License-Identifier: Apache-2.0
#include "diff/random/talk.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace tna::diff {

namespace {
constexpr std::uint16_t dontFragment = 0x4000, moreFragments = 0x2000;
constexpr unsigned icmpNumber = 1, udpNumber = 17, fragmentHeader = 44;

void put16(std::vector<std::uint8_t>& bytes, std::size_t at, unsigned value) {
    bytes.at(at) = static_cast<std::uint8_t>(value >> 8U);
    bytes.at(at + 1) = static_cast<std::uint8_t>(value);
}
Address6 numbered(const char* net, std::size_t host) {
    auto address = address6(net);
    address.back() = static_cast<std::uint8_t>(10 + host);
    return address;
}
} // namespace

Address4 service4(std::size_t host) {
    return address4("198.51.100.10") + static_cast<Address4>(host);
}
Address6 service6(std::size_t host) {
    return numbered("2001:db8:64::", host);
}
Address4 outside4(std::size_t host) {
    return address4("203.0.113.10") + static_cast<Address4>(host);
}
Address6 outside6(std::size_t host) {
    return numbered("2001:db8:71::", host);
}

Frame write(const Letter& letter) {
    Writer writer(letter.to, letter.from);
    if (letter.six)
        writer.packet(letter.header6, letter.payload);
    else
        writer.packet(letter.header4, letter.payload);
    return writer.done();
}

std::vector<Frame> inParts(const Letter& letter, Chance& chance) {
    const auto whole = write(letter);
    const std::size_t header =
        letter.six ? 40 + letter.header6.extensions.size() : 20 + letter.header4.options.size();
    // With the checksum of the whole.
    const std::vector<std::uint8_t> body(whole.begin() + static_cast<std::ptrdiff_t>(ethernet + header),
                                         whole.end());
    const auto cut = std::ptrdiff_t{8} * (1 + chance.below(std::max<std::size_t>(body.size() / 8, 1)));
    if (static_cast<std::size_t>(cut) >= body.size())
        return {whole};
    auto first = letter, second = letter;
    first.payload.assign(body.begin(), body.begin() + cut);
    second.payload.assign(body.begin() + cut, body.end());
    if (letter.six) {
        // Never both: a router that puts them together numbers its own fragments by chance.
        auto& only = chance.once(2) ? first : second;
        const auto offset = &only == &first ? 1U : static_cast<unsigned>(cut);
        only.header6.extensions = {letter.header6.protocol,
                                   0,
                                   static_cast<std::uint8_t>(offset >> 8U),
                                   static_cast<std::uint8_t>(offset),
                                   chance.byte(),
                                   chance.byte(),
                                   chance.byte(),
                                   chance.byte()};
        only.header6.first = fragmentHeader;
        only.header6.protocol = 1; // whose checksum nobody sets
        return {write(only)};
    }
    first.header4.fragment = moreFragments;
    second.header4.fragment = static_cast<std::uint16_t>(cut / 8);
    std::vector<Frame> parts{write(first), write(second)};
    if (chance.once(3))
        std::swap(parts[0], parts[1]);
    if (chance.once(6))
        parts.pop_back();
    return parts;
}

Address4 Scribe::ip4(const End& end) const {
    return end.far > 0 ? topology_->far4[end.far - 1] : topology_->hosts[end.host].ip4;
}

Address6 Scribe::ip6(const End& end) const {
    return end.far > 0 ? topology_->far6[end.far - 1] : topology_->hosts[end.host].ip6;
}

Address4 Scribe::to4(const Talk& talk, unsigned side) const {
    const auto& [client, server] = talk.ends;
    if (side == 0)
        return isRedirected(server.port) ? service4(server.host) : ip4(server);
    if (server.port == translatedPort)
        return address4(topology_->hosts[server.host].net, 1);
    return isHidden(server.port) ? outside4(client.host) : ip4(client);
}

Address6 Scribe::to6(const Talk& talk, unsigned side) const {
    const auto& [client, server] = talk.ends;
    if (side == 0)
        return isRedirected(server.port) ? service6(server.host) : ip6(server);
    return isHidden(server.port) ? outside6(client.host) : ip6(client);
}

Letter Scribe::letter(Talk& talk, unsigned side, std::vector<std::uint8_t> payload) const {
    auto& from = talk.ends[side];
    const auto& to = talk.ends[1 - side];
    const auto& host = topology_->hosts[from.host];
    Letter letter{.port = host.port,
                  .to = topology_->gateways[host.net].value_or(topology_->hosts[to.host].mac),
                  .from = host.mac,
                  .six = talk.six,
                  .payload = std::move(payload)};
    const auto protocol = static_cast<std::uint8_t>(talk.protocol == 1 && talk.six ? 58 : talk.protocol);
    if (side == 1 && talk.protocol != icmpNumber)
        put16(letter.payload, 0, realPort(from.port));
    talk.id = static_cast<std::uint16_t>(talk.id + 7); // nobody merges segments that are numbered so
    letter.header4 = {
        .from = ip4(from),
        .to = to4(talk, side),
        .tos = talk.service,
        .id = talk.id,
        .fragment = talk.mayBeCut ? std::uint16_t{0} : dontFragment,
        .protocol = protocol,
    };
    letter.header6 = {.from = ip6(from),
                      .to = to6(talk, side),
                      .flow = std::uint32_t{talk.service} << 20U,
                      // Likewise.
                      .hops = static_cast<std::uint8_t>(talk.id % 2 == 0 ? 64 : 63),
                      .protocol = protocol,
                      .first = protocol};
    const auto frame = write(letter);
    from.last.assign(frame.begin() + ethernet, frame.end());
    return letter;
}

std::string Scribe::endsOf(const Talk& talk) const {
    const auto text = [&](const End& end) {
        return fmt::format("{} {}", talk.six ? text6(ip6(end)) : text4(ip4(end)), end.port);
    };
    return fmt::format("{} {} {} {}", talk.protocol == udpNumber ? "udp" : "tcp", text(talk.ends[0]),
                       talk.six ? text6(to6(talk, 0)) : text4(to4(talk, 0)), talk.ends[1].port);
}

std::string Scribe::entryOf(const Talk& talk) const {
    const auto& [client, server] = talk.ends;
    auto words = endsOf(talk);
    if (isHidden(server.port))
        words +=
            fmt::format(" source {} {}",
                        talk.six ? text6(outside6(client.host)) : text4(outside4(client.host)), client.port);
    if (isRedirected(server.port))
        words += fmt::format(" destination {} {}", talk.six ? text6(ip6(server)) : text4(ip4(server)),
                             realPort(server.port));
    return words;
}

std::vector<std::uint8_t> Scribe::lastAsReceived(const Talk& talk, unsigned side) const {
    auto bytes = talk.ends[side].last;
    const std::size_t header = talk.six ? 40 : 20;
    const auto& server = talk.ends[1];
    if (bytes.size() < header + 4 || talk.protocol == icmpNumber ||
        (!isRedirected(server.port) && !isHidden(server.port)))
        return bytes;
    const auto put = [&](bool destination, Address4 four, const Address6& six) {
        const auto at = bytes.begin() + (talk.six ? 8 + 16 * destination : 12 + 4 * destination);
        if (talk.six)
            std::ranges::copy(six, at);
        else
            for (unsigned i = 0; i < 4; i++)
                at[i] = static_cast<std::uint8_t>(four >> (24 - 8 * i));
    };
    // One end's source is the other one's destination.
    put(false, to4(talk, 1 - side), to6(talk, 1 - side));
    put(true, ip4(talk.ends[1 - side]), ip6(talk.ends[1 - side]));
    put16(bytes, header + (side == 0 ? 2 : 0), side == 0 ? realPort(server.port) : server.port);
    return bytes;
}

} // namespace tna::diff
