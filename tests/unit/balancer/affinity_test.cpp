// SPDX-License-Identifier: Apache-2.0
// Which backend a client stays with, of headers alone.
#include "affinity.hpp"

#include "frames.hpp"

namespace tna::balancer::test {
namespace {

class AffinityTest : public ::testing::Test {
protected:
    static constexpr std::uint16_t web = 0;

    Headers fromClient(std::uint16_t port, std::uint8_t flags) const {
        return {.protocol = tcp, .from = {client_, port}, .to = {ip("192.0.2.80"), 80}, .flags = flags};
    }
    Headers fromBackend(std::uint16_t backend, std::uint16_t port, std::uint8_t flags) {
        return {.protocol = tcp,
                .from = services_.backend({web, backend}).settings.endpoint,
                .to = {client_, port},
                .flags = flags};
    }
    std::optional<std::uint16_t> ofClient(const Headers& headers, std::uint32_t now) {
        return affinity_.ofClient(headers, web, now, why_);
    }
    std::optional<BackendNumber> ofReply(const Headers& headers, std::uint32_t now) {
        return affinity_.ofReply(headers, *services_.backendsAt({tcp, headers.from}), now);
    }

    static constexpr std::uint32_t late = 1000; ///< when sessions are not adopted any more
    Address client_ = ip("198.51.100.2");
    Configuration configuration_ = configured(services);
    Services services_{configuration_};
    Affinity affinity_{services_, configuration_, 1};
    Outcome why_ = Outcome::forwarded;
};

TEST_F(AffinityTest, AClientStaysThoughOthersWouldBeChosenNow) {
    const auto first = ofClient(fromClient(1000, syn), late);
    ASSERT_TRUE(first);
    services_.setUp(web, 1 - *first, false);
    services_.setUp(web, 1 - *first, true);
    for (std::uint32_t now = late; now < late + 100; now++)
        EXPECT_EQ(ofClient(fromClient(1000, ack), now), first);
    EXPECT_EQ(affinity_.sessions().size(), 1U);
    EXPECT_EQ(services_.backend({web, *first}).chosen, 1U);
}

TEST_F(AffinityTest, AClientMovesFromABackendThatIsDown) {
    const auto first = ofClient(fromClient(1000, syn), late);
    services_.setUp(web, *first, false);
    EXPECT_EQ(ofClient(fromClient(1000, ack), late), 1 - *first);
    EXPECT_EQ(affinity_.moved(), 1U);
    services_.setUp(web, 1 - *first, false);
    EXPECT_FALSE(ofClient(fromClient(1000, ack), late));
    EXPECT_EQ(why_, Outcome::noBackend);
}

TEST_F(AffinityTest, OnlyTheClientsBackendAnswersIt) {
    const auto first = ofClient(fromClient(1000, syn), late);
    EXPECT_EQ(ofReply(fromBackend(*first, 1000, synAck), late), (BackendNumber{web, *first}));
    const auto other = static_cast<std::uint16_t>(1 - *first);
    EXPECT_FALSE(ofReply(fromBackend(other, 1000, synAck), late));
    EXPECT_FALSE(ofReply(fromBackend(*first, 1001, synAck), late)) << "another client";
}

TEST_F(AffinityTest, SessionsFromBeforeARestartAreAdoptedForAWhile) {
    EXPECT_EQ(ofReply(fromBackend(1, 1000, ack), 1), (BackendNumber{web, 1}));
    EXPECT_EQ(ofClient(fromClient(1000, ack), 1), 1);
    EXPECT_FALSE(ofReply(fromBackend(1, 1001, ack), late));
}

TEST_F(AffinityTest, SessionsOfWhatIsNoMoreAreForgotten) {
    const auto first = ofClient(fromClient(1000, syn), late);
    Services::Renumbering renumbering{{std::nullopt, std::nullopt}, {std::nullopt}, {std::nullopt}};
    renumbering[web][*first] = BackendNumber{web, *first};
    affinity_.reconfigure(renumbering, configuration_);
    EXPECT_EQ(affinity_.countByBackend(late)[web][*first], 1U);
    renumbering[web][*first].reset();
    affinity_.reconfigure(renumbering, configuration_);
    EXPECT_EQ(affinity_.sessions().size(), 0U);
}

} // namespace
} // namespace tna::balancer::test
