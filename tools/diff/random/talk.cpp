// SPDX-License-Identifier: Apache-2.0
#include "diff/random/talk.hpp"

#include <fmt/format.h>

namespace tna::diff {

namespace {
constexpr std::uint16_t dontFragment = 0x4000, moreFragments = 0x2000;
constexpr unsigned udpNumber = 17, fragmentHeader = 44;
} // namespace

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

Address4 Scribe::answered(const Talk& talk, const End& from) const {
    return from.port == translatedPort ? address4(topology_->hosts[from.host].net, 1) : ip4(talk.ends[0]);
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
    talk.id = static_cast<std::uint16_t>(talk.id + 7); // nobody merges segments that are numbered so
    letter.header4 = {
        .from = ip4(from),
        .to = side == 0 ? ip4(to) : answered(talk, from),
        .tos = talk.service,
        .id = talk.id,
        .fragment = talk.mayBeCut ? std::uint16_t{0} : dontFragment,
        .protocol = protocol,
    };
    letter.header6 = {.from = ip6(from),
                      .to = ip6(to),
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
    return fmt::format("{} {} {}", talk.protocol == udpNumber ? "udp" : "tcp", text(talk.ends[0]),
                       text(talk.ends[1]));
}

} // namespace tna::diff
