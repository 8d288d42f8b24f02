// SPDX-License-Identifier: Apache-2.0
// A host reaches another one behind the same device by an address of the router, which translates both ends.
#include "ways_fixture.hpp"

namespace tna::test {
namespace {

void sendRedirects(const std::string& device, bool on) {
    must("sysctl -qw net.ipv4.conf." + device + ".send_redirects=" + (on ? "1" : "0"));
}

/// The client behind p0, the server behind the port `Server`; both behind the router's device `name()`.
template <typename Router, unsigned Server>
class HairpinOf : public Router {
protected:
    static constexpr bool bridged = std::is_base_of_v<FromBridge, Router>;
    static constexpr const char* client = "10.0.0.2";
    static constexpr const char* server = "10.0.0.9";
    static constexpr const char* inside = "10.0.0.1";
    static constexpr const char* outside = "10.0.1.1";

    static std::string name() { return bridged ? "br0" : "p0"; }

    void SetUp() override {
        Router::SetUp();
        if (this->IsSkipped())
            return;
        must("nft table ip home { chain forward { type filter hook forward priority 0; policy drop;"
             " ct state established,related accept; ct status dnat accept; };"
             " chain before { type nat hook prerouting priority -100;"
             " ip daddr 10.0.1.1 udp dport 80 dnat to 10.0.0.9:5000; };"
             " chain after { type nat hook postrouting priority 100;"
             " ip saddr 10.0.0.0/24 ip daddr 10.0.0.0/24 masquerade; }; }");
        if (!std::filesystem::exists("/proc/sys/net/netfilter/nf_conntrack_udp_timeout_stream"))
            GTEST_SKIP() << "needs connection tracking";
        sysctl("net.netfilter.nf_conntrack_udp_timeout_stream", "1000000");
        this->config_.limits.connections = 1024;
        must(std::string("ip neigh replace ") + server + " lladdr " + text(station(7)) + " dev " + name() +
             " nud permanent");
        if constexpr (bridged)
            this->learnt(7, "p" + std::to_string(Server));
        for (const auto& device : {std::string("all"), name()})
            sendRedirects(device, false);
    }
    /// As the client sends it, or the server.
    static Frame sent(bool answer, std::size_t payload = 26) {
        const auto router = RouteTest::portMac(0);
        if (answer)
            return withPorts(
                ipv4Frame(router, station(7), {.from = server, .to = inside, .payload = payload}), 5000,
                4000);
        return withPorts(ipv4Frame(router, station(1), {.from = client, .to = outside, .payload = payload}),
                         4000, 80);
    }
    /// As the router sends it on.
    static Arrivals out(bool answer, std::size_t payload = 26) {
        const auto router = RouteTest::portMac(0);
        const auto made =
            answer ? withPorts(oneHopFurther(ipv4Frame(router, station(7),
                                                       {.from = outside, .to = client, .payload = payload}),
                                             station(1), router),
                               80, 4000)
                   : withPorts(oneHopFurther(ipv4Frame(router, station(1),
                                                       {.from = inside, .to = server, .payload = payload}),
                                             station(7), router),
                               4000, 5000);
        return {{answer ? 0 : Server, {made}}};
    }
    Treatment treated(bool answer, std::size_t payload = 26) {
        return this->treat(sent(answer, payload), answer ? Server : 0);
    }
    /// Linux is sure of the connection, which is the one that the rules make.
    void accelerated() {
        ASSERT_EQ(treated(false).out, out(false));
        ASSERT_EQ(removeConnection(connection_), 0);
        if (const int error = addConnection(
                connection_,
                {.source = inside, .sourcePort = 4000, .destination = server, .destinationPort = 5000});
            error != 0)
            GTEST_SKIP() << "connections cannot be made by hand: " << std::strerror(error);
        for (const bool answer : {false, true})
            EXPECT_EQ(treated(answer).out, out(answer));
        this->accelerate();
        if (this->IsSkipped())
            return;
        this->rulesAreKnown();
        for (const bool answer : {false, true})
            EXPECT_EQ(treated(answer).out, out(answer));
    }
    void expect(const Path& path) {
        for (const bool answer : {false, true})
            EXPECT_EQ(treated(answer), (Treatment{path, out(answer)})) << (answer ? "back" : "forth");
    }

    Connection connection_{.to = "10.0.1.1", .toPort = 80};
};

template <typename Router>
class Hairpin : public Router {};
using SameDevices =
    ::testing::Types<HairpinOf<RouteTest, 0>, HairpinOf<FromBridge, 0>, HairpinOf<FromBridge, 2>>;
TYPED_TEST_SUITE(Hairpin, SameDevices);

TYPED_TEST(Hairpin, IsAsLinuxMakesIt) {
    this->accelerated();
    for (const std::size_t payload : {10U, 26U, 27U, 111U, 1400U})
        for (const bool answer : {false, true})
            EXPECT_EQ(this->treated(answer, payload), (Treatment{fastPath(), this->out(answer, payload)}));
}

/// NAT drops what Linux would tell the sender; but it counts.
TYPED_TEST(Hairpin, IsLinuxsWhileSendersMayBeTold) {
    this->accelerated();
    for (const auto& device : {std::string("all"), this->name()}) {
        sendRedirects(device, true);
        this->expect(slowPath("same-device"));
        sendRedirects(device, false);
        this->expect(fastPath());
    }
}

TYPED_TEST(Hairpin, IsLinuxsWhenTheConnectionIsForgotten) {
    this->accelerated();
    this->expect(fastPath());
    ASSERT_EQ(removeConnection(this->connection_), 0);
    this->expect(slowPath("flow-changed"));
}

TYPED_TEST(Hairpin, IsLinuxsWhenARuleForbidsIt) {
    this->accelerated();
    this->expect(fastPath());
    must("nft insert rule ip home forward udp dport 5000 drop");
    EXPECT_EQ(this->treated(false), (Treatment{slowPath("ip-netfilter"), {}}));
}

} // namespace
} // namespace tna::test
