// SPDX-License-Identifier: Apache-2.0
// ICMP errors about packets of connections.
#include "frames.hpp"

namespace tna::balancer::test {
namespace {

class Errors : public Frames, public ::testing::WithParamInterface<bool> {
protected:
    Errors() {
        (void)to(tcpPacket(client_, syn));
        there_ = client_;
        there_.to = six_ ? "2001:db8:1::11" : to(tcpPacket(client_, ack));
        there_.toPort = 8080;
    }
    static Flow backwards(const Flow& flow) { return {flow.to, flow.from, flow.toPort, flow.fromPort}; }
    [[nodiscard]] Bytes error(const std::string& from, const std::string& to, const Bytes& quoted) const {
        return errorPacket({from, to}, six_ ? 2 : 3, six_ ? 0 : 4, quoted, {0, 0, 5, 0});
    }

    bool six_ = GetParam();
    const char* clientAddress_ = six_ ? "2001:db8::2" : "198.51.100.2";
    const char* service_ = six_ ? "2001:db8:2::80" : "192.0.2.80";
    const char* router_ = six_ ? "2001:db8:7::1" : "203.0.113.1";
    Flow client_{clientAddress_, service_, 4000, 80};
    Flow there_;
};
INSTANTIATE_TEST_SUITE_P(Of, Errors, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "Ipv6" : "Ipv4"; });

/// A router before the client: packets of the service are too long for it, say.
TEST_P(Errors, ReachTheBackendThatHasSentThePacket) {
    const auto sent = tcpPacket(backwards(client_), ack, Bytes(400, 1));
    expectBecomes(error(router_, service_, sent),
                  error(router_, there_.to, tcpPacket(backwards(there_), ack, Bytes(400, 1))),
                  Outcome::errorForwarded);
}

/// A router before the backend, or the backend itself.
TEST_P(Errors, ReachTheClientThatHasSentThePacket) {
    const auto sent = tcpPacket(there_, ack, Bytes(400, 1)), said = tcpPacket(client_, ack, Bytes(400, 1));
    expectBecomes(error(router_, clientAddress_, sent), error(router_, clientAddress_, said),
                  Outcome::errorReplied);
    expectBecomes(error(there_.to, clientAddress_, sent), error(service_, clientAddress_, said),
                  Outcome::errorReplied);
}

TEST_P(Errors, QuotesMayBeShort) {
    auto sent = tcpPacket(backwards(client_), ack), result = tcpPacket(backwards(there_), ack);
    for (auto* packet : {&sent, &result})
        packet->resize((six_ ? 40U : 20U) + 8);
    expectBecomes(error(router_, service_, sent), error(router_, there_.to, result), Outcome::errorForwarded);
}

TEST_P(Errors, AboutNoSessionAreLinuxs) {
    Flow other = client_;
    other.fromPort = 4001;
    expectLeft(error(router_, service_, tcpPacket(backwards(other), ack)), Outcome::noSession);
    Flow direct = there_;
    direct.fromPort = 4001;
    expectLeft(error(router_, clientAddress_, tcpPacket(direct, ack)), Outcome::noSession);
}

TEST_P(Errors, ToSomebodyElseAreLinuxs) {
    expectLeft(error(router_, clientAddress_, tcpPacket(backwards(client_), ack)), Outcome::noService);
    expectLeft(error(router_, service_, tcpPacket(there_, ack)), Outcome::noService);
}

TEST_P(Errors, FromNobodyAreLinuxs) {
    expectLeft(error(six_ ? "::1" : "127.0.0.1", service_, tcpPacket(backwards(client_), ack)),
               Outcome::badSource);
}

TEST_P(Errors, AboutThisHostsOwnPacketsAreItsOwn) {
    balancer_->setOwnAddresses({ip(clientAddress_)});
    expectLeft(error(router_, clientAddress_, tcpPacket(there_, syn)), Outcome::ownHost);
}

TEST_P(Errors, AboutOtherThingsAreLinuxs) {
    expectLeft(errorPacket({router_, service_}, six_ ? 1 : 3, 1,
                           packets::echoPacket({service_, clientAddress_}, six_ ? 129 : 0, 5)),
               Outcome::otherKind);
}

} // namespace
} // namespace tna::balancer::test
