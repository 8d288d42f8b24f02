// SPDX-License-Identifier: Apache-2.0
#include "diff/random/conversations.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace tna::diff {

namespace {
constexpr unsigned icmpNumber = 1, tcpNumber = 6, udpNumber = 17;
constexpr std::uint64_t padding = 4;
constexpr std::size_t shortest = 60; ///< that a cable carries, without the checksum of the frame
/// So long after it began, a connection of UDP that goes both ways is one to rely on; and a little more.
constexpr const char* untilAssured = "2200";

Step wait(const char* milliseconds) {
    return Directive{Directive::Verb::wait, {}, false, milliseconds};
}

Step entry(const std::string& words) {
    return Directive{Directive::Verb::entry, {}, false, words};
}
} // namespace

Conversations::Conversations(Chance& chance, Topology& topology, bool translates)
    : chance_(chance), topology_(topology), scribe_(topology), others_(chance, topology),
      translates_(translates), padded_(chance.apart(padding).once(2)) {
    const bool waits = chance_.once(2);
    for (unsigned i = 6 + chance_.below(10); i > 0; i--) {
        talks_.push_back(newTalk());
        if (waits && talks_.back().protocol == udpNumber)
            goOnUdp(talks_.back(), 3);
        else
            begin(talks_.back());
    }
    if (waits)
        queue_.push_back(wait(untilAssured));
}

End Conversations::newEnd(bool six) {
    End end;
    const auto farCount = six ? topology_.far6.size() : topology_.far4.size();
    end.host = chance_.below(topology_.hosts.size());
    // Those far away are reached by way of one host at first.
    if (farCount > 0 && chance_.once(6)) {
        end.far = 1 + chance_.below(farCount - 1);
        end.host = six ? topology_.hosts.size() - 1 : 2;
    }
    return end;
}

/// Whether hosts are too near each other to talk: `back`: only if they are one.
bool Conversations::sameSide(std::size_t one, std::size_t other, bool back) const {
    const auto &first = topology_.hosts[one], &second = topology_.hosts[other];
    if (topology_.bridged())
        return first.port == second.port;
    return back ? one == other : first.net == second.net;
}

Talk Conversations::newTalk() {
    Talk talk;
    talk.protocol = chance_.oneOf<unsigned>({udpNumber, udpNumber, udpNumber, udpNumber, udpNumber, tcpNumber,
                                             tcpNumber, udpNumber, udpNumber, icmpNumber});
    talk.six = chance_.once(3);
    talk.ends[0] = newEnd(talk.six);
    const bool back = translates_ && !talk.six && chance_.once(6); // out of the device that it came by
    do {
        talk.ends[1] = newEnd(talk.six);
    } while (sameSide(talk.ends[0].host, talk.ends[1].host, back));
    ports_ = 1024 + (ports_ - 1024 + 7) % 60000;
    talk.ends[0].port = ports_;
    talk.ends[1].port = chance_.oneOf<unsigned>({53, 53, 80, 443, 4001, 8080, 21, 69});
    if (!talk.six && talk.protocol != icmpNumber && !topology_.bridged() && chance_.once(10))
        talk.ends[1].port = translatedPort;
    if (translates_ && talk.protocol != icmpNumber && !chance_.once(3))
        becomeTranslated(talk);
    for (auto& end : talk.ends)
        end.scale = chance_.once(2) ? chance_.below(15) : 0;
    if (chance_.once(6))
        talk.service = chance_.byte();
    talk.id = static_cast<std::uint16_t>(chance_.number());
    talk.mayBeCut = chance_.once(3);
    talk.unsummed = !talk.six && chance_.once(8);
    talk.oneWay = chance_.once(10);
    talk.timestamps = chance_.once(2);
    talk.sack = chance_.once(2);
    talk.clock = chance_.number();
    return talk;
}

/// Between hosts that are there.
void Conversations::becomeTranslated(Talk& talk) {
    talk.ends[1].port = chance_.oneOf({redirectedPort, hiddenPort, bothPort});
    for (auto& end : talk.ends)
        end.far = 0;
}

const Talk& Conversations::anyTalk() {
    if (talks_[last_].protocol != icmpNumber && !chance_.once(4))
        return talks_[last_];
    for (unsigned i = 0; i < 10; i++)
        if (const auto& talk = chance_.oneOf(talks_); talk.protocol != icmpNumber)
            return talk;
    return talks_[last_];
}

void Conversations::begin(Talk& talk) {
    const bool known =
        talk.protocol == udpNumber ? !chance_.once(5) : talk.protocol == tcpNumber && chance_.once(8);
    if (!known)
        return;
    queue_.push_back(entry("add " + scribe_.entryOf(talk)));
    if (talk.protocol == tcpNumber) { // from another firewall, which had seen its beginning
        for (unsigned side = 0; side < 2; side++)
            talk.ends[side].next = chance_.number();
        talk.ends[0].acked = talk.ends[1].next;
        talk.ends[1].acked = talk.ends[0].next;
        talk.phase = Phase::open;
    }
}

void Conversations::put(unsigned port, Frame frame) {
    if (padded_ && frame.size() < shortest)
        frame.resize(shortest);
    queue_.emplace_back(Packet{port, std::move(frame)});
}

void Conversations::sendOdd(Letter letter) {
    auto& header4 = letter.header4;
    switch (chance_.below(10)) {
    case 0:
        header4.ttl = letter.header6.hops = chance_.oneOf<std::uint8_t>({0, 1, 1, 2, 255});
        break;
    case 1:
        header4.tos = chance_.byte();
        letter.header6.flow = chance_.number() & 0xfffffffU;
        break;
    case 2:
        header4.options = chance_.oneOf<std::vector<std::uint8_t>>({{1, 1, 1, 0}, {7, 7, 4, 0, 0, 0, 0, 0}});
        break;
    case 3: // shorter than it says, or longer
        letter.payload.resize(chance_.once(2) ? letter.payload.size() + chance_.below(9)
                                              : chance_.below(letter.payload.size() + 1));
        break;
    case 4: // by another way
        letter.port = chance_.below(topology_.vlans.size());
        if (letter.port < topology_.gateways.size())
            letter.to = topology_.gateways[letter.port].value_or(letter.to);
        break;
    case 5:
    case 6:
        if (letter.payload.size() > 16) {
            for (auto& frame : inParts(letter, chance_))
                queue_.emplace_back(Packet{letter.port, std::move(frame)});
            return;
        }
        break;
    default: { // a byte is wrong, most often one that the checksum tells of
        auto frame = write(letter);
        const auto at = ethernet + 20 + chance_.below(frame.size() - ethernet - 20);
        frame[at] ^= static_cast<std::uint8_t>(1U << chance_.below(8));
        queue_.emplace_back(Packet{letter.port, std::move(frame)});
        return;
    }
    }
    queue_.emplace_back(Packet{letter.port, write(letter)});
}

void Conversations::send(Talk& talk, unsigned side, std::vector<std::uint8_t> payload) {
    auto letter = scribe_.letter(talk, side, std::move(payload));
    if (chance_.once(40)) {
        sendOdd(std::move(letter));
        return;
    }
    auto frame = write(letter);
    if (talk.unsummed && talk.protocol == udpNumber)
        frame[ethernet + 26] = frame[ethernet + 27] = 0;
    put(letter.port, std::move(frame));
}

void Conversations::goOnUdp(Talk& talk, unsigned most) {
    unsigned side = 0;
    for (unsigned count = 1 + chance_.below(most); count > 0; count--) {
        side = talk.oneWay ? 0 : chance_.once(2) ? 1 - side : side;
        const auto size = chance_.oneOf<std::size_t>({0, 1, 18, 19, 100, 511, 512, 1200, 1472, 1400});
        send(talk, side,
             udp(talk.ends[side].port, talk.ends[1 - side].port,
                 talk.six ? std::min<std::size_t>(size, 1452) : size, chance_.number()));
    }
}

void Conversations::goOnTcp(Talk& talk) {
    TcpTalk tcp(chance_, talk);
    if (talk.phase == Phase::reset || (talk.phase == Phase::over && chance_.once(2)))
        talk.ends[0].port = ports_ = 1024 + (ports_ - 1024 + 7) % 60000;
    for (auto& segment : talk.phase != Phase::open ? tcp.open() : chance_.once(10) ? tcp.close() : tcp.goOn())
        send(talk, segment.side, std::move(segment.bytes));
}

void Conversations::goOnEcho(Talk& talk) {
    for (unsigned count = 1 + chance_.below(3); count > 0; count--) {
        const auto number = chance_.number();
        const auto echo = [&](unsigned type) {
            return icmp(type, 0, talk.ends[0].port, 56, number & 0xffffU);
        };
        send(talk, 0, echo(talk.six ? 128 : 8));
        if (!talk.oneWay)
            send(talk, 1, echo(talk.six ? 129 : 0));
    }
}

/// About what the other end has sent, or somebody in between.
void Conversations::complain(Talk& talk) {
    const auto side = chance_.below(2);
    auto quoted = scribe_.lastAsReceived(talk, 1 - side);
    if (quoted.empty())
        return;
    if (chance_.once(2))
        quoted.resize(std::min<std::size_t>(quoted.size(), (talk.six ? 40 : 20) + 8));
    quoted.resize(std::min<std::size_t>(quoted.size(), 1200));
    struct Complaint {
        unsigned type, code;
    };
    const auto about = talk.six
                           ? chance_.oneOf<Complaint>({{1, 0}, {1, 4}, {2, 0}, {3, 0}, {4, 1}})
                           : chance_.oneOf<Complaint>({{3, 3}, {3, 4}, {3, 1}, {11, 0}, {12, 0}, {5, 1}});
    auto payload = icmp(about.type, about.code, 0, 0, talk.six ? 1280 : 1400);
    payload.insert(payload.end(), quoted.begin(), quoted.end());
    const auto protocol = std::exchange(talk.protocol, icmpNumber);
    auto last = talk.ends[side].last;
    send(talk, side, std::move(payload));
    talk.ends[side].last = std::move(last);
    talk.protocol = protocol;
}

void Conversations::goOn(Talk& talk) {
    if (chance_.once(40)) // the type of service changes, or a router on the way has something to say
        talk.service = chance_.once(2) ? static_cast<std::uint8_t>(talk.service ^ 3U) : chance_.byte();
    if (chance_.once(40))
        complain(talk);
    if (talk.protocol == udpNumber)
        goOnUdp(talk, talk.six ? 8 : 24);
    else if (talk.protocol == tcpNumber)
        goOnTcp(talk);
    else
        goOnEcho(talk);
}

Step Conversations::next() {
    while (queue_.empty()) {
        if (chance_.once(12))
            return others_.next();
        const bool again = std::exchange(again_, false);
        if (!again)
            last_ = chance_.below(talks_.size());
        auto& talk = talks_[last_];
        if (!again && chance_.once(50)) {
            talk = newTalk();
            begin(talk);
        }
        goOn(talk);
    }
    auto step = std::move(queue_.front());
    queue_.pop_front();
    return step;
}

} // namespace tna::diff
