// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/case.hpp"
#include "diff/random/chance.hpp"
#include "diff/random/writer.hpp"

namespace tna::diff {

/// One end of a connection, as its host sees it.
struct End {
    std::size_t host = 0; ///< by whose port its packets come in
    std::size_t far = 0;  ///< 0: it is that host; else the number of a far address + 1
    unsigned port = 0;
    std::uint32_t next = 0;  ///< sequence number
    std::uint32_t acked = 0; ///< of the other end's
    unsigned window = 0x4000;
    unsigned scale = 0;
    std::vector<std::uint8_t> last; ///< the packet that it sent last, from the IP header on
};

/// Where rules that translate addresses have it so: the answers go to the router, which knows whose they are.
/// Nothing else is translated, for Linux picks ports by chance where two connections would look alike.
inline constexpr unsigned translatedPort = 7777;

/// Ports by which clients know services: what becomes of their packets.
inline constexpr unsigned redirectedPort = 7001; ///< they reach another address, and another port
inline constexpr unsigned hiddenPort = 7002;     ///< they come from another address
inline constexpr unsigned bothPort = 7003;

[[nodiscard]] constexpr bool isRedirected(unsigned port) {
    return port == redirectedPort || port == bothPort;
}
[[nodiscard]] constexpr bool isHidden(unsigned port) {
    return port == hiddenPort || port == bothPort;
}
/// On the host that they come to.
[[nodiscard]] constexpr unsigned realPort(unsigned port) {
    return isRedirected(port) ? port + 100 : port;
}
/// By which a host's services are known, and which a host has outside.
[[nodiscard]] Address4 service4(std::size_t host);
[[nodiscard]] Address6 service6(std::size_t host);
[[nodiscard]] Address4 outside4(std::size_t host);
[[nodiscard]] Address6 outside6(std::size_t host);

/// After a reset, nobody talks between the same ports for a while.
enum class Phase { fresh, open, over, reset };

/// What two ends say to each other. They do not know what becomes of packets between them.
struct Talk {
    unsigned protocol = 17;
    bool six = false;
    std::array<End, 2> ends{};
    Phase phase = Phase::fresh;
    std::uint8_t service = 0;
    std::uint16_t id = 0;
    bool mayBeCut = false;   ///< no "don't fragment"
    bool unsummed = false;   ///< UDP without checksum
    bool oneWay = false;     ///< nobody answers
    bool timestamps = false; ///< of TCP
    bool sack = false;
    std::uint32_t clock = 0;
};

/// A packet before it is written down.
struct Letter {
    unsigned port = 0;
    Mac to{}, from{};
    bool six = false;
    Header4 header4{};
    Header6 header6{};
    std::vector<std::uint8_t> payload;
};

[[nodiscard]] Frame write(const Letter& letter);
/// The same in two, of which the second one may come first, or one not at all.
[[nodiscard]] std::vector<Frame> inParts(const Letter& letter, Chance& chance);

/// Packets of talks, between the hosts of a topology.
class Scribe {
public:
    explicit Scribe(Topology& topology) : topology_(&topology) {}
    /// From one end to the other.
    [[nodiscard]] Letter letter(Talk& talk, unsigned side, std::vector<std::uint8_t> payload) const;
    /// "udp 10.0.0.2 4000 10.0.1.2 53", as entries of connection tracking are written.
    [[nodiscard]] std::string endsOf(const Talk& talk) const;
    /// The same, and what Linux puts in.
    [[nodiscard]] std::string entryOf(const Talk& talk) const;
    /// What a side sent last, as it has reached the other one but for checksums.
    [[nodiscard]] std::vector<std::uint8_t> lastAsReceived(const Talk& talk, unsigned side) const;

private:
    [[nodiscard]] Address4 ip4(const End& end) const;
    [[nodiscard]] Address6 ip6(const End& end) const;
    /// To whom a side's packets are when they set out.
    [[nodiscard]] Address4 to4(const Talk& talk, unsigned side) const;
    [[nodiscard]] Address6 to6(const Talk& talk, unsigned side) const;
    Topology* topology_;
};

/// A connection of TCP: what its ends send when it is their turn.
class TcpTalk {
public:
    TcpTalk(Chance& chance, Talk& talk) : chance_(chance), talk_(talk) {}
    struct Segment {
        unsigned side;
        std::vector<std::uint8_t> bytes;
    };
    [[nodiscard]] std::vector<Segment> open();
    [[nodiscard]] std::vector<Segment> goOn();
    [[nodiscard]] std::vector<Segment> close();

private:
    static constexpr unsigned fin = 1, syn = 2, rst = 4, psh = 8, ack = 16, urg = 32, ece = 64, cwr = 128;
    struct Words {
        unsigned flags = ack;
        std::size_t size = 0;
        std::uint32_t forward = 0; ///< of the sequence number; the next one stays what it is
        std::uint32_t ackForward = 0;
        std::vector<std::uint8_t> options{};
    };
    [[nodiscard]] End& end(unsigned side) { return talk_.ends[side]; }
    void add(unsigned side, const Words& words);
    void greet(unsigned side, unsigned flags);
    void data(unsigned side);
    void odd(unsigned side);
    void catchUp(unsigned side) { end(side).acked = end(1 - side).next; }
    [[nodiscard]] std::vector<std::uint8_t> stamp(const std::vector<std::uint8_t>& more = {});

    Chance& chance_;
    Talk& talk_;
    std::vector<Segment> segments_;
};

} // namespace tna::diff
