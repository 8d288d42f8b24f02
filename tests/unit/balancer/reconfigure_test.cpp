// SPDX-License-Identifier: Apache-2.0
// Backends that go down, come, go, and are drained.
#include "frames.hpp"
#include "health.hpp"

#include <map>

namespace tna::balancer::test {
namespace {

class Changes : public Frames {
protected:
    Changes() {
        for (std::uint16_t port = 1000; port < 1100; port++)
            before_[port] = to(packetOf(port));
    }
    static Bytes packetOf(std::uint16_t port, std::uint8_t flags = ack) {
        return tcpPacket({"198.51.100.2", "192.0.2.80", port, 80}, flags);
    }
    static std::string with(const std::string& what, const std::string& in, const std::string& instead) {
        auto text = in;
        text.replace(text.find(what), what.size(), instead);
        return text;
    }
    static Bytes replyOf(const std::string& backend, std::uint16_t port) {
        return tcpPacket({backend, "198.51.100.2", 8080, port}, ack);
    }

    std::map<std::uint16_t, std::string> before_;
};

TEST_F(Changes, SessionsOfABackendThatIsDownMove) {
    balancer_->setUp(0, 0, false);
    std::uint64_t moved = 0;
    for (const auto& [port, backend] : before_) {
        moved += backend == "10.0.1.11" ? 1 : 0;
        EXPECT_EQ(to(packetOf(port)), "10.0.1.12");
    }
    EXPECT_EQ(balancer_->affinity().moved(), moved);
    balancer_->setUp(0, 0, true);
    for (const auto& [port, backend] : before_)
        EXPECT_EQ(to(packetOf(port)), "10.0.1.12") << "and do not come back";
}

TEST_F(Changes, WithoutAnyNothingIsForwarded) {
    balancer_->setUp(0, 0, false);
    balancer_->setUp(0, 1, false);
    expectLeft(packetOf(1000), Outcome::noBackend);
    expectLeft(packetOf(5000, syn), Outcome::noBackend);
    balancer_->setUp(0, 1, true);
    EXPECT_EQ(to(packetOf(1000)), "10.0.1.12");
}

TEST_F(Changes, SessionsStayWhenOneIsAdded) {
    balancer_->reconfigure(configured(with("[[service.backend]]\n", services,
                                           "[[service.backend]]\naddress = \"10.0.1.10\"\nport = 8080\n"
                                           "[[service.backend]]\n")));
    for (const auto& [port, backend] : before_)
        EXPECT_EQ(to(packetOf(port)), backend);
    std::map<std::string, unsigned> met;
    for (std::uint16_t port = 2000; port < 2300; port++)
        met[to(packetOf(port, syn))]++;
    EXPECT_GT(met["10.0.1.10"], 60U);
    EXPECT_EQ(met.size(), 3U);
}

TEST_F(Changes, SessionsStayWithWhatIsDrained) {
    balancer_->reconfigure(configured(with("\"10.0.1.11\"\n", services, "\"10.0.1.11\"\nweight = 0\n")));
    for (const auto& [port, backend] : before_)
        EXPECT_EQ(to(packetOf(port)), backend);
    for (std::uint16_t port = 2000; port < 2100; port++)
        EXPECT_EQ(to(packetOf(port, syn)), "10.0.1.12");
}

TEST_F(Changes, WhatIsTakenOutHasNoSessions) {
    balancer_->reconfigure(
        configured(with("[[service.backend]]\naddress = \"10.0.1.11\"\nport = 8080\n", services, "")));
    for (const auto& [port, backend] : before_) {
        if (backend == "10.0.1.11")
            expectLeft(replyOf(backend, port), Outcome::noService);
        EXPECT_EQ(to(packetOf(port)), "10.0.1.12");
    }
    EXPECT_EQ(balancer_->affinity().sessions().size(), before_.size());
}

TEST_F(Changes, ServiceThatIsTakenOutHasNoSessions) {
    const auto second = services.find("[[service]]\nname = \"web6\"");
    balancer_->reconfigure(configured(services.substr(second)));
    EXPECT_EQ(balancer_->affinity().sessions().size(), 0U);
    expectLeft(packetOf(1000), Outcome::noService);
}

TEST_F(Changes, SessionsAreForgottenAsIsSaidNow) {
    balancer_->reconfigure(configured(with("name = \"web\"\n", services, "name = \"web\"\nidle = 60\n")));
    EXPECT_EQ(balancer_->affinity().countByBackend(late + 60)[0][0] +
                  balancer_->affinity().countByBackend(late + 60)[0][1],
              before_.size());
    EXPECT_EQ(balancer_->affinity().countByBackend(late + 61)[0], (std::vector<std::uint64_t>{0, 0}));
}

/// Numbers of services and backends are others, and what belongs to them is the same.
TEST_F(Changes, OrderDoesNotMatter) {
    const auto second = services.find("[[service]]\nname = \"web6\"");
    const auto first = services.find("[[service]]\nname = \"web\"");
    auto turned = services.substr(second) + services.substr(first, second - first);
    turned = with("10.0.1.12", with("\"10.0.1.11\"\nport = 8080", turned, "\"10.0.1.13\"\nport = 8080"),
                  "10.0.1.11");
    turned = with("10.0.1.13", turned, "10.0.1.12");
    balancer_->setUp(0, 0, false);
    balancer_->reconfigure(configured(turned));
    const auto& web = balancer_->services().at(2);
    ASSERT_EQ(web.settings.name, "web");
    EXPECT_EQ(text(web.backends[1].settings.endpoint), "10.0.1.11:8080");
    EXPECT_FALSE(web.backends[1].up);
    EXPECT_TRUE(web.backends[0].up);
    EXPECT_GT(web.backends[0].packets, 0U);
    balancer_->setUp(2, 1, true);
    for (const auto& [port, backend] : before_)
        EXPECT_EQ(to(packetOf(port)), backend);
}

TEST_F(Changes, WithoutChecksAllAreUp) {
    balancer_->setUp(0, 0, false);
    balancer_->reconfigure(configured(with("name = \"web\"\n", services, "check = { kind = \"none\" }\n")));
    EXPECT_TRUE(balancer_->services()[0].backends[0].up);
}

TEST(HealthState, ChangesAfterSomeInARow) {
    Health health(true, 2, 3);
    for (const bool good : {false, false, true, false, false})
        EXPECT_FALSE(health.report(good));
    EXPECT_TRUE(health.report(false));
    EXPECT_FALSE(health.up());
    for (const bool good : {true, false, true})
        EXPECT_FALSE(health.report(good));
    EXPECT_TRUE(health.report(true));
    EXPECT_TRUE(health.up());
}

} // namespace
} // namespace tna::balancer::test
