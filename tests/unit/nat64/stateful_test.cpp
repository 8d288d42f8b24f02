// SPDX-License-Identifier: Apache-2.0
// Whole packets through a translator with a pool, beside packets that are built from scratch.
#include "expect.hpp"
#include "frame.hpp"

namespace tna::nat64::test {
namespace {

constexpr const char *host = "2001:db8::1", *other = "2001:db8::2";
constexpr const char *pool = "203.0.113.5", *server = "192.0.2.33", *server6 = "64:ff9b::192.0.2.33";

class StatefulPackets : public ::testing::Test {
protected:
    static Settings settings() {
        Settings settings;
        settings.addresses.prefix = Prefix::parse("64:ff9b::/96").value();
        EXPECT_TRUE(settings.pool.add(std::string(pool) + ":20000-20099"));
        settings.sessions.most = 1000;
        settings.seed = 0x77770000;
        return settings;
    }
    /// A packet of the host to the server's port 53, and the port it has in IPv4.
    std::uint16_t send(const std::string& from = host, std::uint16_t port = 4000) {
        const auto done = translate(translator_, udpPacket({from, server6, port, 53}));
        EXPECT_EQ(done.outcome.fate, Fate::translated);
        return static_cast<std::uint16_t>(done.packet[20] << 8U | done.packet[21]);
    }
    /// What small packets to IPv4 have: a number each.
    [[nodiscard]] static More numbered(std::uint16_t id) { return {.id = id, .dontFragment = false}; }

    Translator translator_{settings()};
};

TEST_F(StatefulPackets, UdpGoesOutAndComesBack) {
    const auto port = send();
    EXPECT_EQ(port % 2, 0);
    expectBecomes(translator_, udpPacket({host, server6, 4000, 53}, Bytes(33, 9)),
                  udpPacket({pool, server, port, 53}, Bytes(33, 9), numbered(1)));
    expectBecomes(translator_, udpPacket({server, pool, 53, port}, Bytes(15, 9)),
                  udpPacket({server6, host, 53, 4000}, Bytes(15, 9)));
    expectBecomes(translator_, udpPacket({"192.0.2.99", pool, 5, port}), // endpoint-independent
                  udpPacket({"64:ff9b::192.0.2.99", host, 5, 4000}));
}

TEST_F(StatefulPackets, TcpBeginsWithSyn) {
    expectLeft(translator_, tcpPacket({host, server6, 4001, 80}, 0x10), Reason::noSession);
    expectBecomes(translator_, tcpPacket({host, server6, 20011, 80}, 2),
                  tcpPacket({pool, server, 20011, 80}, 2, {}, numbered(0)));
    expectBecomes(translator_, tcpPacket({server, pool, 80, 20011}, 0x12),
                  tcpPacket({server6, host, 80, 20011}, 0x12));
    expectLeft(translator_, tcpPacket({"192.0.2.99", pool, 80, 20011}, 0x10), Reason::noSession);
    ASSERT_NE(translator_.sessions(), nullptr);
    EXPECT_EQ(translator_.sessions()->sessions(), 1U);
}

TEST_F(StatefulPackets, EchoHasAnIdentifierOfThePool) {
    expectBecomes(translator_, echoPacket({host, server6}, 128, 20007),
                  echoPacket({pool, server}, 8, 20007, numbered(0)));
    expectBecomes(translator_, echoPacket({server, pool}, 0, 20007), echoPacket({server6, host}, 129, 20007));
    const auto second = translate(translator_, echoPacket({other, server6}, 128, 20007));
    const auto id = static_cast<std::uint16_t>(second.packet[24] << 8U | second.packet[25]);
    EXPECT_NE(id, 20007);
    expectBecomes(translator_, echoPacket({server, pool}, 0, id), echoPacket({server6, other}, 129, 20007));
}

TEST_F(StatefulPackets, ErrorsFindTheirSession) {
    const auto port = send();
    const auto out4 = udpPacket({pool, server, port, 53}), out6 = udpPacket({host, server6, 4000, 53});
    expectBecomes(translator_, errorPacket({"198.18.0.1", pool}, 11, 0, out4),
                  errorPacket({"64:ff9b::198.18.0.1", host}, 3, 0, out6));
    expectBecomes(translator_, errorPacket({"198.18.0.1", pool}, 3, 4, out4, {0, 0, 0x05, 0x14}),
                  errorPacket({"64:ff9b::198.18.0.1", host}, 2, 0, out6, {0, 0, 0x05, 0x28}));
    const auto in4 = udpPacket({server, pool, 53, port}), in6 = udpPacket({server6, host, 53, 4000});
    expectBecomes(translator_, errorPacket({host, server6}, 1, 4, in6),
                  errorPacket({pool, server}, 3, 3, in4, {0, 0, 0, 0}, numbered(1)));
    expectLeft(translator_, errorPacket({"198.18.0.1", pool}, 11, 0, udpPacket({pool, server, port, 54})),
               Reason::noSession);
    expectLeft(translator_,
               errorPacket({"198.18.0.1", pool}, 11, 0, udpPacket({"203.0.113.6", server, port, 53})),
               Reason::noSession);
    auto broken = errorPacket({"198.18.0.1", pool}, 11, 0, out4);
    broken[40] ^= 1U;
    expectLeft(translator_, broken, Reason::icmpChecksum);
}

/// An error to one address of the pool that quotes a packet of another one is of no session.
TEST_F(StatefulPackets, ErrorsAreForTheirHost) {
    auto two = settings();
    ASSERT_TRUE(two.pool.add("203.0.113.6:20000-20099"));
    Translator translator(two);
    const auto done = translate(translator, udpPacket({host, server6, 20004, 53}));
    ASSERT_EQ(done.outcome.fate, Fate::translated);
    const bool first = done.packet[15] == 5; // which of the two it is
    const std::string own = first ? "203.0.113.5" : "203.0.113.6", foreign = first ? "203.0.113.6" : pool;
    const auto quoted = udpPacket({own, server, 20004, 53});
    expectLeft(translator, errorPacket({"198.18.0.1", foreign}, 11, 0, quoted), Reason::noSession);
    EXPECT_EQ(translate(translator, errorPacket({"198.18.0.1", own}, 11, 0, quoted)).outcome.fate,
              Fate::translated);
}

/// Packets in fragments: the ports are in the first one only.
TEST_F(StatefulPackets, LaterFragmentsFollowTheFirst) {
    const Flow six{host, server6, 4000, 53};
    const auto port = send();
    const Flow four{pool, server, port, 53};
    const auto head = [](std::uint8_t high, std::uint8_t low) { return Bytes{17, 0, high, low, 0, 0, 0, 5}; };
    const auto part = [&](const Flow& flow, bool later) {
        const auto all = udpOf(flow, Bytes(40, 3));
        return later ? Bytes(all.begin() + 24, all.end()) : Bytes(all.begin(), all.begin() + 24);
    };
    const auto fragment6 = [&](bool later) {
        auto bytes = later ? head(0, 3 << 3U) : head(0, 1);
        const auto contents = part(six, later);
        bytes.insert(bytes.end(), contents.begin(), contents.end());
        return packetOf(six, 44, bytes);
    };
    const auto fragment4 = [&](const Flow& flow, bool later) {
        return packetOf(
            flow, udp, part(flow, later),
            {.id = 5, .fragment = static_cast<std::uint16_t>(later ? 3 : 0x2000), .dontFragment = false});
    };
    expectLeft(translator_, fragment6(true), Reason::fragment);
    expectBecomes(translator_, fragment6(false), fragment4(four, false));
    expectBecomes(translator_, fragment6(true), fragment4(four, true));
    expectLeft(translator_, fragment6(true), Reason::fragment, 11);
    const Flow back4{server, pool, 53, port}, back6{server6, host, 53, 4000};
    expectLeft(translator_, fragment4(back4, true), Reason::fragment);
    EXPECT_EQ(translate(translator_, fragment4(back4, false)).outcome.reason, Reason::none);
    const auto later = translate(translator_, fragment4(back4, true));
    EXPECT_EQ(later.outcome.reason, Reason::none);
    auto expected = Bytes{17, 0, 0, 3 << 3U, 0, 0, 0, 5};
    const auto contents = part(back6, true);
    expected.insert(expected.end(), contents.begin(), contents.end());
    EXPECT_EQ(hex(later.packet), hex(packetOf(back6, 44, expected)));
}

/// A first fragment that is refused has none that follow it.
TEST_F(StatefulPackets, LaterFragmentsFollowNoneThatIsRefused) {
    const auto port = send();
    const Flow back{server, pool, 53, port};
    const auto all = udpOf(back, Bytes(40, 3));
    auto first = Bytes(all.begin(), all.begin() + 24);
    first[6] = first[7] = 0; // no checksum
    expectLeft(translator_, packetOf(back, udp, first, {.id = 5, .fragment = 0x2000, .dontFragment = false}),
               Reason::zeroChecksum);
    expectLeft(translator_,
               packetOf(back, udp, Bytes(all.begin() + 24, all.end()),
                        {.id = 5, .fragment = 3, .dontFragment = false}),
               Reason::fragment);
}

/// One host of IPv6's side sends to another one by its address in the pool.
TEST_F(StatefulPackets, HostsReachEachOtherByThePool) {
    const auto port = send(other, 20050);
    ASSERT_EQ(port, 20050);
    const std::string pool6 = std::string("64:ff9b::") + pool;
    expectBecomes(translator_, udpPacket({host, pool6, 20060, 20050}),
                  udpPacket({pool6, other, 20060, 20050}));
    expectBecomes(translator_, udpPacket({other, pool6, 20050, 20060}),
                  udpPacket({pool6, host, 20050, 20060}));
    const auto nobodyThere = translate(translator_, udpPacket({host, pool6, 20060, 20051}));
    EXPECT_EQ(nobodyThere.outcome.fate, Fate::spoilt);
    EXPECT_EQ(nobodyThere.outcome.reason, Reason::noBinding);
}

/// What is left of one that is refused on its way back to IPv6 is of no use, and not made worse.
TEST_F(StatefulPackets, FrameThatIsSpoiltStaysWhereItWas) {
    constexpr std::size_t room = 100, layer2 = 14;
    ASSERT_EQ(send(other, 20050), 20050);
    Bytes memory(room + 12, 2);
    memory.insert(memory.end(), {0x86, 0xdd});
    const auto packet = udpPacket({host, std::string("64:ff9b::") + pool, 20060, 20051});
    memory.insert(memory.end(), packet.begin(), packet.end());
    const Bytes before(memory.begin(), memory.begin() + room + layer2 + header4);
    Buffer frame{memory.data(), memory.data() + room, layer2 + packet.size()};
    const auto outcome = translateFrame(translator_, frame, 0);
    EXPECT_EQ(outcome.fate, Fate::spoilt);
    EXPECT_EQ(outcome.reason, Reason::noBinding);
    EXPECT_EQ(frame.data, memory.data() + room);
    EXPECT_EQ(frame.length, layer2 + packet.size());
    EXPECT_EQ(Bytes(memory.begin(), memory.begin() + room + layer2 + header4), before);
}

TEST_F(StatefulPackets, SendersAreToldWhatIsAgainstThem) {
    const auto unbound = udpPacket({server, pool, 53, 20099});
    const auto answered = translate(translator_, unbound);
    EXPECT_EQ(answered.outcome.fate, Fate::answered);
    EXPECT_EQ(answered.outcome.reason, Reason::noBinding);
    EXPECT_EQ(hex(answered.packet),
              hex(errorPacket({pool, server}, 3, 1, unbound, {0, 0, 0, 0}, numbered(0))));
    for (unsigned i = 0; i < 50; i++)
        for (unsigned parity = 0; parity < 2; parity++)
            (void)send(host, static_cast<std::uint16_t>(3000 + 2 * i + parity));
    const auto full = udpPacket({host, server6, 9, 53});
    const auto exhausted = translate(translator_, full);
    EXPECT_EQ(exhausted.outcome.reason, Reason::poolExhausted);
    EXPECT_EQ(hex(exhausted.packet), hex(errorPacket({server6, host}, 1, 3, full)));
    const auto aboutError = errorPacket({server, pool}, 3, 1, udpPacket({pool, server, 1, 2}));
    EXPECT_EQ(translate(translator_, aboutError).outcome.fate, Fate::leftAlone) << "errors are not answered";
    unsigned answers = 0;
    for (unsigned i = 0; i < 500; i++)
        answers += translate(translator_, full, 1).outcome.fate == Fate::answered ? 1 : 0;
    EXPECT_EQ(answers, 100U) << "in a second";
}

TEST_F(StatefulPackets, PrefixIsNobodysSource) {
    expectLeft(translator_, udpPacket({"64:ff9b::192.0.2.1", server6, 1, 2}), Reason::address);
    expectLeft(translator_, udpPacket({"fe80::1", server6, 1, 2}), Reason::address);
    expectLeft(translator_, packetOf({host, server6}, 132, Bytes(20, 1)), Reason::protocol);
}

} // namespace
} // namespace tna::nat64::test
