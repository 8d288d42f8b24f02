// SPDX-License-Identifier: Apache-2.0
// Whole packets of clients and backends, before and behind.
#include "frames.hpp"

#include <map>

namespace tna::balancer::test {
namespace {

const Flow client4{"198.51.100.2", "192.0.2.80", 4000, 80};
const Flow client6{"2001:db8::2", "2001:db8:2::80", 4000, 80};
const Flow asker{"198.51.100.2", "192.0.2.80", 4000, 53};

Flow backwards(const Flow& flow) {
    return {flow.to, flow.from, flow.toPort, flow.fromPort};
}
/// The same with another destination.
Flow redirected(Flow flow, const std::string& to, std::uint16_t port) {
    flow.to = to;
    flow.toPort = port;
    return flow;
}
Flow from(Flow flow, std::uint16_t port) {
    flow.fromPort = port;
    return flow;
}

TEST_F(Frames, SegmentsGoToABackendAndBack) {
    const auto backend = to(tcpPacket(client4, syn));
    ASSERT_NE(backend, "");
    const auto there = redirected(client4, backend, 8080);
    expectBecomes(tcpPacket(backwards(there), synAck), tcpPacket(backwards(client4), synAck),
                  Outcome::replied);
    expectBecomes(tcpPacket(client4, ack, Bytes(30, 1)), tcpPacket(there, ack, Bytes(30, 1)),
                  Outcome::forwarded);
    expectBecomes(tcpPacket(backwards(there), ack, Bytes(999, 2)),
                  tcpPacket(backwards(client4), ack, Bytes(999, 2)), Outcome::replied);
}

TEST_F(Frames, OfIpv6Too) {
    const auto there = redirected(client6, "2001:db8:1::11", 8080);
    expectBecomes(tcpPacket(client6, syn), tcpPacket(there, syn), Outcome::forwarded);
    expectBecomes(tcpPacket(backwards(there), synAck), tcpPacket(backwards(client6), synAck),
                  Outcome::replied);
}

TEST_F(Frames, DatagramsToo) {
    const auto there = redirected(asker, "10.0.1.11", 5353);
    expectBecomes(udpPacket(asker), udpPacket(there), Outcome::forwarded);
    expectBecomes(udpPacket(backwards(there)), udpPacket(backwards(asker)), Outcome::replied);
}

TEST_F(Frames, WhatIsNobodysIsLinuxs) {
    expectLeft(tcpPacket(redirected(client4, "192.0.2.80", 81), syn), Outcome::noService);
    expectLeft(udpPacket(client4), Outcome::noService); // TCP's port
    expectLeft(tcpPacket({"10.0.1.11", "198.51.100.2", 9, 4000}, ack), Outcome::noService);
    expectLeft(packets::echoPacket(client4, 8, 1), Outcome::otherKind);
    expectLeft(udpPacket(asker, Bytes(64, 1), {.fragment = 0x2000, .dontFragment = false}),
               Outcome::fragment);
    auto options = tcpPacket(client4, syn, Bytes(20, 0));
    options[0] = 0x46;
    expectLeft(options, Outcome::options);
    auto malformed = tcpPacket(client4, syn);
    malformed[32] = 0x40;
    expectLeft(malformed, Outcome::malformed);
}

TEST_F(Frames, ServicesHaveClientsThatAreHostsOnly) {
    balancer_->setOwnAddresses({ip("10.0.1.1")});
    for (const auto* source : {"0.0.0.0", "127.0.0.1", "224.0.0.1", "10.0.1.1"})
        expectLeft(tcpPacket({source, "192.0.2.80", 4000, 80}, syn), Outcome::badSource);
    EXPECT_EQ(balancer_->affinity().sessions().size(), 0U);
}

/// A single datagram would go to and fro for ever.
TEST_F(Frames, ServicesAreNoClientsOfEachOther) {
    expectLeft(udpPacket({"192.0.2.80", "192.0.2.80", 53, 53}), Outcome::badSource);
    expectLeft(tcpPacket({"192.0.2.80", "192.0.2.80", 9999, 80}, syn), Outcome::badSource);
    expectLeft(tcpPacket({"10.0.1.11", "192.0.2.80", 8080, 4000}, ack), Outcome::noSession, 0);
    EXPECT_EQ(balancer_->affinity().sessions().size(), 0U);
}

/// As those to its checks.
TEST_F(Frames, AnswersToThisHostAreItsOwn) {
    balancer_->setOwnAddresses({ip("10.0.1.1")});
    const Flow check{"10.0.1.11", "10.0.1.1", 8080, 4000};
    for (const std::uint32_t now : {0U, late}) {
        expectLeft(tcpPacket(check, synAck), Outcome::ownHost, now);
        expectLeft(tcpPacket(check, ack), Outcome::ownHost, now);
    }
}

/// It may have been reached without a service, by its own address.
TEST_F(Frames, BackendsWithoutASessionAreLinuxs) {
    const Flow there = redirected(client4, "10.0.1.11", 8080);
    for (const auto flags : {synAck, ack, fin, rst})
        expectLeft(tcpPacket(backwards(there), flags), Outcome::noSession);
    EXPECT_EQ(balancer_->affinity().sessions().size(), 0U);
}

TEST_F(Frames, OfTheOtherBackendAreLinuxs) {
    const auto chosen = to(tcpPacket(client4, syn));
    const auto* other = chosen == "10.0.1.11" ? "10.0.1.12" : "10.0.1.11";
    for (const std::uint32_t now : {late, late + 1})
        expectLeft(tcpPacket(backwards(redirected(client4, other, 8080)), ack), Outcome::noSession, now);
}

/// After a restart: connections that were there go on.
TEST_F(Frames, BackendsAreBelievedAtTheBeginning) {
    const Flow there = redirected(client4, "10.0.1.11", 8080);
    expectLeft(tcpPacket(backwards(there), synAck), Outcome::noSession,
               59); // it begins now, and not by a service
    expectLeft(tcpPacket(backwards(there), rst), Outcome::noSession, 59);
    expectLeft(tcpPacket(backwards(there), ack), Outcome::noSession, 60); // too late
    expectBecomes(tcpPacket(backwards(there), ack), tcpPacket(backwards(client4), ack), Outcome::replied, 59);
    expectBecomes(tcpPacket(client4, ack), tcpPacket(there, ack), Outcome::forwarded,
                  late / 10); // and the client goes there, too
    const Flow unknown{"198.51.100.3", "192.0.2.80", 4000, 80};
    const auto chosen = to(tcpPacket(unknown, ack), 59);
    const auto* other = chosen == "10.0.1.11" ? "10.0.1.12" : "10.0.1.11";
    expectLeft(tcpPacket(backwards(redirected(unknown, other, 8080)), ack), Outcome::noSession,
               59); // it is with the other one
}

class Ambiguous : public Frames {
protected:
    Ambiguous() {
        balancer_ = std::make_unique<Balancer>(configured(R"(
[[service]]
address = "192.0.2.80"
port = 80
[[service.backend]]
address = "10.0.1.11"
port = 8080
[[service]]
address = "192.0.2.81"
port = 80
[[service.backend]]
address = "10.0.1.11"
port = 8080
)"),
                                               1);
    }
};

TEST_F(Ambiguous, NobodyIsBelievedWhereTwoServicesHaveIt) {
    expectLeft(tcpPacket({"10.0.1.11", "198.51.100.2", 8080, 4000}, ack), Outcome::noSession, 0);
}

TEST_F(Ambiguous, BothServicesHaveTheirOwnReplies) {
    const Flow one = client4, two{"198.51.100.2", "192.0.2.81", 5000, 80};
    for (const auto& flow : {one, two}) {
        const auto there = redirected(flow, "10.0.1.11", 8080);
        expectBecomes(tcpPacket(flow, syn), tcpPacket(there, syn), Outcome::forwarded);
        expectBecomes(tcpPacket(backwards(there), synAck), tcpPacket(backwards(flow), synAck),
                      Outcome::replied);
    }
    const Flow same{"198.51.100.2", "192.0.2.81", 4000, 80};
    expectLeft(tcpPacket(same, syn), Outcome::clash); // replies would be either's
}

TEST_F(Frames, ConnectionsStayWhereTheyAre) {
    std::map<std::uint16_t, std::string> chosen;
    std::map<std::string, unsigned> met;
    for (std::uint16_t port = 1000; port < 1100; port++)
        met[chosen[port] = to(tcpPacket(from(client4, port), syn))]++;
    EXPECT_EQ(met.size(), 2U);
    EXPECT_GT(met["10.0.1.11"], 25U);
    EXPECT_GT(met["10.0.1.12"], 25U);
    for (std::uint16_t port = 1000; port < 1100; port++)
        EXPECT_EQ(to(tcpPacket(from(client4, port), ack)), chosen[port]);
    const auto counts = balancer_->affinity().countByBackend(late);
    EXPECT_EQ(counts[0][0], met["10.0.1.11"]);
    EXPECT_EQ(balancer_->services()[0].backends[0].chosen, met["10.0.1.11"]);
    EXPECT_EQ(balancer_->affinity().countByBackend(late + 901)[0][0], 0U) << "forgotten";
}

TEST_F(Frames, SameClientGoesToTheSameOneIfWanted) {
    auto text = services;
    text.insert(text.find("port = 80\n"), "affinity = \"address\"\n");
    balancer_ = std::make_unique<Balancer>(configured(text), 1);
    std::map<std::string, unsigned> met, all;
    for (std::uint16_t port = 1000; port < 1100; port++)
        met[to(tcpPacket(from(client4, port), syn))]++;
    EXPECT_EQ(met.size(), 1U);
    for (int host = 1; host < 100; host++)
        all[to(tcpPacket({fmt::format("198.51.100.{}", host), "192.0.2.80", 9, 80}, syn))]++;
    EXPECT_EQ(all.size(), 2U);
}

TEST_F(Frames, SessionsAreForgottenWithoutPackets) {
    (void)to(tcpPacket(client4, syn), 1000);
    EXPECT_EQ(balancer_->affinity().sessions().size(), 1U);
    const auto there = redirected(client4, to(tcpPacket(client4, ack), 1900), 8080);
    expectLeft(tcpPacket(backwards(there), ack), Outcome::noSession, 1900 + 901);
    EXPECT_EQ(balancer_->affinity().sessions().size(), 0U);
}

TEST_F(Frames, SessionsThatEndAreForgottenSooner) {
    (void)to(tcpPacket(client4, syn), 1000);
    const auto there = redirected(client4, to(tcpPacket(client4, fin), 1000), 8080);
    expectBecomes(tcpPacket(backwards(there), fin), tcpPacket(backwards(client4), fin), Outcome::replied,
                  1120);
    expectLeft(tcpPacket(backwards(there), ack), Outcome::noSession, 1241);
}

/// A client may use its port again, and gets what a new connection gets.
TEST_F(Frames, EndedConnectionBeginsAnew) {
    (void)to(tcpPacket(client4, syn));
    (void)to(tcpPacket(client4, fin));
    (void)to(tcpPacket(client4, syn));
    const auto& backends = balancer_->services()[0].backends;
    EXPECT_EQ(backends[0].chosen + backends[1].chosen, 2U);
    EXPECT_EQ(balancer_->affinity().sessions().size(), 1U);
}

/// As many as there are places for sessions.
TEST_F(Frames, ManyBeginAtOnceAfterManyHaveEnded) {
    for (std::uint16_t port = 1000; port < 2000; port++)
        for (const auto flags : {syn, ack, fin})
            (void)to(tcpPacket(from(client4, port), flags));
    const std::uint32_t later = late + 121;
    std::map<std::uint16_t, std::string> chosen;
    for (std::uint16_t port = 2000; port < 2100; port++)
        chosen[port] = to(tcpPacket(from(client4, port), syn), later);
    for (const auto& [port, backend] : chosen) {
        const auto there = redirected(from(client4, port), backend, 8080);
        expectBecomes(tcpPacket(backwards(there), synAck), tcpPacket(backwards(from(client4, port)), synAck),
                      Outcome::replied, later);
    }
}

/// Whatever they say, and whether or not one side of a connection has ended it already.
TEST_F(Frames, SinglePacketsDoNotDisplaceConnections) {
    for (const auto flags : {syn, ack, fin, rst, finFlag}) {
        balancer_ = std::make_unique<Balancer>(configured(services), 1);
        for (std::uint16_t port = 1000; port < 1500; port++)
            for (const auto each : {syn, ack, port % 2 == 0 ? ack : fin})
                (void)to(tcpPacket(from(client4, port), each));
        for (std::uint16_t port = 2000; port < 5000; port++)
            EXPECT_NE(to(tcpPacket(from(client4, port), flags), late + 1), "");
        for (std::uint16_t port = 1000; port < 1500; port++)
            (void)to(tcpPacket(from(client4, port), ack), late + 1);
        const auto& backends = balancer_->services()[0].backends;
        EXPECT_EQ(backends[0].chosen + backends[1].chosen, 3500U) << "none chooses anew, flags " << +flags;
    }
}

TEST_F(Frames, NothingGoesToWeightZero) {
    auto text = services;
    text.insert(text.find("[[service.backend]]\naddress = \"10.0.1.12\"\n") + 20, "weight = 0\n");
    balancer_ = std::make_unique<Balancer>(configured(text), 1);
    for (std::uint16_t port = 1000; port < 1100; port++)
        EXPECT_EQ(to(tcpPacket(from(client4, port), syn)), "10.0.1.11");
    text.insert(text.find("[[service.backend]]\n") + 20, "weight = 0\n");
    balancer_ = std::make_unique<Balancer>(configured(text), 1);
    expectLeft(tcpPacket(client4, syn), Outcome::noBackend);
}

} // namespace
} // namespace tna::balancer::test
