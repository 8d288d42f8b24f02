// SPDX-License-Identifier: Apache-2.0
// Which services and backends there are, without any packet.
#include "services.hpp"

#include "frames.hpp"

namespace tna::balancer::test {
namespace {

constexpr std::uint16_t web = 0, web6 = 1, dns = 2;

Place at(std::uint8_t protocol, const std::string& address, std::uint16_t port) {
    return {protocol, {ip(address), port}};
}

TEST(Services, AreFoundByTheirPlaces) {
    const Services all{configured(services)};
    EXPECT_EQ(all.serviceAt(at(tcp, "192.0.2.80", 80)), web);
    EXPECT_EQ(all.serviceAt(at(tcp, "2001:db8:2::80", 80)), web6);
    EXPECT_EQ(all.serviceAt(at(udp, "192.0.2.80", 53)), dns);
    EXPECT_FALSE(all.serviceAt(at(udp, "192.0.2.80", 80)));
    EXPECT_FALSE(all.serviceAt(at(tcp, "10.0.1.11", 8080))) << "a backend";
}

TEST(Services, ABackendOfSeveralIsFoundForEach) {
    const Services all{configured(services + R"(
[[service]]
name = "web-too"
address = "192.0.2.81"
port = 80
[[service.backend]]
address = "10.0.1.12"
port = 8080
)")};
    const auto* backends = all.backendsAt(at(tcp, "10.0.1.12", 8080));
    ASSERT_NE(backends, nullptr);
    EXPECT_EQ(*backends, (std::vector<BackendNumber>{{web, 1}, {3, 0}}));
    EXPECT_EQ(all.backendsAt(at(tcp, "192.0.2.80", 80)), nullptr) << "a service";
}

TEST(Services, ClientsAreNeitherThisHostNorAService) {
    Services all{configured(services)};
    EXPECT_TRUE(all.isClient(ip("198.51.100.2")));
    EXPECT_FALSE(all.isClient(ip("224.0.0.1")));
    EXPECT_FALSE(all.isClient(ip("192.0.2.80")));
    EXPECT_TRUE(all.isClient(ip("10.0.1.1")));
    all.setOwnAddresses({ip("10.0.1.1")});
    EXPECT_FALSE(all.isClient(ip("10.0.1.1")));
    EXPECT_TRUE(all.isOwn(ip("10.0.1.1")));
}

TEST(Services, NobodyIsSentToABackendThatIsDown) {
    Services all{configured(services)};
    all.setUp(web, 0, false);
    for (std::uint16_t port = 1000; port < 1100; port++)
        EXPECT_EQ(all.choose(web, {ip("198.51.100.2"), port}), 1);
    all.setUp(web, 1, false);
    EXPECT_FALSE(all.choose(web, {ip("198.51.100.2"), 1000}));
}

TEST(Services, AreNumberedAnewWithWhatTheyHaveCounted) {
    Services all{configured(services)};
    all.backend({web, 1}).packets = 7;
    all.setUp(web, 1, false);
    const auto now = all.reconfigure(configured(R"(
[[service]]
name = "dns"
protocol = "udp"
address = "192.0.2.80"
port = 53
[[service.backend]]
address = "10.0.1.11"
port = 5353
[[service]]
name = "web"
address = "192.0.2.80"
port = 80
[[service.backend]]
address = "10.0.1.12"
port = 8080
)"));
    ASSERT_EQ(now.size(), 3U);
    EXPECT_EQ(now[web], (std::vector<std::optional<BackendNumber>>{std::nullopt, BackendNumber{1, 0}}));
    EXPECT_EQ(now[web6], (std::vector<std::optional<BackendNumber>>{std::nullopt}));
    EXPECT_EQ(now[dns], (std::vector<std::optional<BackendNumber>>{BackendNumber{0, 0}}));
    EXPECT_EQ(all.backend({1, 0}).packets, 7U);
    EXPECT_FALSE(all.choose(1, {ip("198.51.100.2"), 1000})) << "it is down still";
}

} // namespace
} // namespace tna::balancer::test
