// SPDX-License-Identifier: Apache-2.0
#include "translator.hpp"

#include "bytes.hpp"

#include <algorithm>

namespace tna::nat64 {

namespace {

constexpr unsigned complaintsInASecond = 100;
constexpr std::size_t destinationPlace4 = 16;

/// What a sender is told of a reason; nothing: it is not told.
std::optional<Complaint> complaintOf(Reason reason, bool six, std::uint32_t place, std::size_t mtu6) {
    constexpr std::uint8_t unreachable4 = 3, unreachable6 = 1, parameter6 = 4;
    switch (reason) {
    case Reason::poolExhausted:
    case Reason::tableFull:
        return six ? std::optional(Complaint{unreachable6, 3}) : std::nullopt;
    case Reason::notMapped:
        return six ? std::optional(Complaint{unreachable6, 5}) : std::nullopt;
    case Reason::routingHeader:
        return Complaint{parameter6, 0, place};
    case Reason::sourceRoute:
        return Complaint{unreachable4, 5};
    case Reason::tooLong: // what becomes as long as may be
        return Complaint{unreachable4, 4,
                         static_cast<std::uint32_t>(mtu6 + header4 - header6 - fragmentHeader)};
    case Reason::noBinding:
        return Complaint{unreachable4, 1};
    case Reason::filtered:
        return Complaint{unreachable4, 13};
    default:
        return std::nullopt;
    }
}

bool isError(const Parsed& parsed, bool six) {
    if (parsed.protocol != (six ? icmp6 : icmp4) || !parsed.has(1))
        return false;
    return six ? isError6(parsed.transport[0]) : isError4(parsed.transport[0]);
}

} // namespace

Translator::Translator(Settings settings)
    : limits_(settings.limits), answerUnbound_(settings.answerUnbound),
      id_(static_cast<std::uint16_t>(settings.seed)) {
    if (settings.pool.empty()) {
        mapping_ = std::make_unique<Stateless>(settings.addresses, std::move(settings.maps),
                                               std::move(settings.inside), settings.errorSource);
        return;
    }
    auto stateful = std::make_unique<Stateful>(settings.addresses, settings.sessions,
                                               std::move(settings.pool), settings.seed);
    stateful_ = stateful.get();
    mapping_ = std::move(stateful);
}

Reason Translator::translate6(Buffer& packet, Parsed& parsed, std::uint32_t now) {
    const auto wrong = parse6(packet.bytes(), Extent::whole, parsed);
    if (wrong == Reason::malformed)
        return wrong;
    if (!mapping_->isOurs(parsed.destination6))
        return Reason::notOurs;
    packet.length = header6 + load16(packet.data + 4);
    if (wrong != Reason::none)
        return wrong;
    Ends4 ends;
    NewPorts ports;
    if (!isError(parsed, true)) {
        if (const auto reason = mapping_->from6(parsed, now, ends, ports); reason != Reason::none)
            return reason;
        const auto reason = to4(packet, parsed, ends, ports, id_++);
        if (reason == Reason::none && parsed.isFirst())
            mapping_->remember(parsed, parsed.source6, ends.source, now);
        return reason;
    }
    Parsed quoted;
    Ends4 quotedEnds;
    if (const auto reason = quotedOf(parsed, true, quoted); reason != Reason::none)
        return reason;
    if (const auto reason = mapping_->errorFrom6(parsed, quoted, ends, quotedEnds, ports);
        reason != Reason::none)
        return reason;
    return errorTo4(packet, parsed, quoted, ends, quotedEnds, ports, id_++);
}

Reason Translator::translate4(Buffer& packet, Parsed& parsed, std::uint32_t now) {
    const auto wrong = parse4(packet.bytes(), Extent::whole, parsed);
    if (wrong == Reason::malformed)
        return wrong;
    if (!mapping_->isOurs(parsed.destination4))
        return Reason::notOurs;
    packet.length = load16(packet.data + 2);
    if (wrong != Reason::none)
        return wrong;
    if (!isUnicast(parsed.source4))
        return Reason::address;
    Ends6 ends;
    NewPorts ports;
    if (!isError(parsed, false)) {
        if (const auto reason = mapping_->from4(parsed, now, ends, ports); reason != Reason::none)
            return reason;
        const auto reason = to6(packet, parsed, ends, ports, limits_);
        if (reason == Reason::none && parsed.isFirst())
            mapping_->remember(parsed, ends.destination, parsed.destination4, now);
        return reason;
    }
    Parsed quoted;
    Ends6 quotedEnds;
    if (const auto reason = quotedOf(parsed, false, quoted); reason != Reason::none)
        return reason;
    if (const auto reason = mapping_->errorFrom4(parsed, quoted, ends, quotedEnds, ports);
        reason != Reason::none)
        return reason;
    return errorTo6(packet, parsed, quoted, ends, quotedEnds, ports);
}

/// Not about errors, and not to who is many (RFC 1122, 3.2.2; RFC 4443, 2.4).
bool Translator::complain(Buffer& packet, bool six, const Parsed& parsed, Reason reason, std::uint32_t now) {
    const auto complaint = complaintOf(reason, six, parsed.place, limits_.mtu6);
    if (!complaint || (reason == Reason::noBinding && !answerUnbound_))
        return false;
    if (parsed.offset != 0 || isError(parsed, six) ||
        !(six ? isUnicast(parsed.source6) : isUnicast(parsed.source4)))
        return false;
    if (now != second_) {
        second_ = now;
        complaints_ = 0;
    }
    if (++complaints_ > complaintsInASecond)
        return false;
    return six ? complain6(packet, parsed, *complaint) : complain4(packet, parsed, *complaint);
}

Outcome Translator::translate(Buffer& packet, std::uint32_t now) {
    const bool six = packet.isSix();
    Parsed parsed;
    const auto reason = six ? translate6(packet, parsed, now) : translate4(packet, parsed, now);
    if (reason != Reason::none)
        return {complain(packet, six, parsed, reason, now) ? Fate::answered : Fate::leftAlone, reason};
    // from one IPv6 host to another one
    if (six && mapping_->turnsRound(parsed.destination6, load32(packet.data + destinationPlace4))) {
        parsed = {.turned = true};
        if (const auto second = translate4(packet, parsed, now); second != Reason::none)
            return {Fate::spoilt, second};
    }
    return {Fate::translated, Reason::none};
}

} // namespace tna::nat64
