// SPDX-License-Identifier: Apache-2.0
#include "frames.hpp"

#include <gmock/gmock.h>

namespace tna::balancer::test {
namespace {

using ::testing::HasSubstr;

TEST(Settings, HaveDefaults) {
    const auto all = configured(R"(
[[service]]
address = "192.0.2.80"
port = 80
[[service.backend]]
address = "10.0.1.11"
[[service]]
protocol = "udp"
address = "2001:db8::53"
port = 53
[[service.backend]]
address = "2001:db8:1::11"
)");
    EXPECT_EQ(all.sessions, 65536U);
    EXPECT_EQ(all.adopt, 60U);
    ASSERT_EQ(all.services.size(), 2U);
    EXPECT_EQ(all.services[0].name, "192.0.2.80:80/tcp");
    EXPECT_EQ(all.services[0].idle, 900U);
    EXPECT_EQ(all.services[0].table, 65537U);
    EXPECT_FALSE(all.services[0].byAddress);
    EXPECT_EQ(text(all.services[0].backends.at(0).endpoint), "10.0.1.11:80") << "the service's port";
    EXPECT_EQ(all.services[0].backends[0].weight, 1U);
    EXPECT_EQ(all.services[1].name, "[2001:db8::53]:53/udp");
    EXPECT_EQ(all.services[1].idle, 120U);
    EXPECT_EQ(all.services[0].check.kind, "tcp");
    EXPECT_EQ(all.services[1].check.kind, "none");
}

TEST(Settings, AreRead) {
    const auto all = configured(R"(
sessions = 100
adopt = 0
[[service]]
name = "web"
address = "192.0.2.80"
port = 80
affinity = "address"
idle = 5
table = 251
[service.check]
kind = "tcp"
port = 8081
interval = 100
timeout = 50
rise = 1
fall = 2
[[service.backend]]
address = "10.0.1.11"
port = 8080
weight = 7
)");
    EXPECT_EQ(all.sessions, 100U);
    EXPECT_EQ(all.adopt, 0U);
    const auto& service = all.services.at(0);
    EXPECT_EQ(service.name, "web");
    EXPECT_TRUE(service.byAddress);
    EXPECT_EQ(service.idle, 5U);
    EXPECT_EQ(service.table, 251U);
    EXPECT_EQ(service.check, (CheckSettings{"tcp", 8081, 100, 50, 1, 2}));
    EXPECT_EQ(service.backends.at(0).weight, 7U);
    EXPECT_EQ(text(service.backends[0].endpoint), "10.0.1.11:8080");
}

TEST(Settings, OfDirectReturnAndHttpAreRead) {
    const auto all = configured(R"(
[[service]]
address = "2001:db8:2::80"
port = 80
mode = "direct"
check = { kind = "http", path = "/health" }
[[service.backend]]
address = "2001:db8:1::11"
mac = "02:00:00:0a:bC:01"
device = "eth1"
[[service]]
address = "192.0.2.80"
port = 8080
check = { kind = "http", path = "/", host = "www.example.org" }
[[service.backend]]
address = "10.0.1.11"
)");
    ASSERT_EQ(all.services.size(), 2U);
    EXPECT_TRUE(all.services[0].direct);
    EXPECT_EQ(all.services[0].check.path, "/health");
    EXPECT_EQ(all.services[0].check.host, "[2001:db8:2::80]");
    EXPECT_EQ(all.services[0].backends.at(0).mac, (Mac{2, 0, 0, 0x0a, 0xbc, 1}));
    EXPECT_EQ(all.services[0].backends[0].device, "eth1");
    EXPECT_FALSE(all.services[1].direct);
    EXPECT_EQ(all.services[1].check.host, "www.example.org");
}

struct Wrong {
    const char* name;
    const char* what; ///< is replaced
    const char* with;
    const char* said;
};
void PrintTo(const Wrong& wrong, std::ostream* out) {
    *out << wrong.name;
}

class WrongSettings : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongSettings, AreToldWithTheirPlace) {
    std::string text = services;
    const auto& wrong = GetParam();
    text.replace(text.find(wrong.what), std::string(wrong.what).size(), wrong.with);
    const auto read = parseConfiguration(text, "test.toml");
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().sentence(), HasSubstr(wrong.said));
    EXPECT_THAT(read.error().sentence(), HasSubstr("test.toml"));
    EXPECT_EQ(read.error().code, ExitCode::usage);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongSettings,
    ::testing::Values(
        Wrong{"NoToml", "[[service]]", "[[service", "test.toml:"},
        Wrong{"Unknown", "sessions = 1000", "session = 1000", "there is no setting 'session'"},
        Wrong{"Sessions", "sessions = 1000", "sessions = 1", "'sessions' must be a whole number from 16"},
        Wrong{"Adopt", "sessions = 1000", "adopt = -1", "'adopt' must be"},
        Wrong{"Address", "\"192.0.2.80\"", "\"192.0.2\"", "'service.address' must be an address"},
        Wrong{"Group", "\"192.0.2.80\"", "\"224.0.0.1\"", "'service.address' must be an address"},
        Wrong{"NoAddress", "address = \"192.0.2.80\"", "", "'service' must be with an 'address'"},
        Wrong{"NoPort", "port = 80\n", "", "'service' must be with an 'address', a 'port'"},
        Wrong{"Port", "port = 80\n", "port = 65536\n", "'service.port' must be"},
        Wrong{"Protocol", "protocol = \"udp\"", "protocol = \"sctp\"", "one of \"tcp\", \"udp\""},
        Wrong{"Affinity", "name = \"web\"", "affinity = \"all\"", "'service.affinity' must be one of"},
        Wrong{"Check", "name = \"web\"", "check = { kind = \"ping\" }",
              "'service.check.kind' must be one of"},
        Wrong{"Interval", "name = \"web\"", "check = { interval = 1 }", "'service.check.interval' must be"},
        Wrong{"NoPrime", "name = \"web\"", "table = 65536", "prime number, from 200 on for 2 backends"},
        Wrong{"SmallTable", "name = \"web\"", "table = 199", "prime number, from 200 on"},
        Wrong{"OtherVersion", "\"10.0.1.12\"", "\"2001:db8::1\"", "of the same version of IP"},
        Wrong{"BackendTwice", "\"10.0.1.12\"", "\"10.0.1.11\"", "10.0.1.11:8080 once among its backends"},
        Wrong{"NameTwice", "\"web6\"", "\"web\"", "two services called 'web'"},
        Wrong{"PlaceTwice", "protocol = \"udp\"\naddress = \"192.0.2.80\"\nport = 53",
              "address = \"192.0.2.80\"\nport = 80", "there are two services at 192.0.2.80:80"},
        Wrong{"ServiceAsBackend", "\"10.0.1.12\"\nport = 8080", "\"192.0.2.80\"\nport = 80",
              "192.0.2.80:80 is a service and a backend"},
        Wrong{"Mode", "name = \"web\"", "mode = \"tunnel\"",
              "'service.mode' must be one of \"nat\", \"direct\""},
        Wrong{"DirectWithoutMac", "name = \"web\"", "mode = \"direct\"", "with a 'mac' of each backend"},
        Wrong{"MacWithoutDirect", "port = 8080\n", "port = 8080\nmac = \"02:00:00:00:00:01\"\n",
              "only where its 'mode' is \"direct\""},
        Wrong{"DeviceWithoutDirect", "port = 8080\n", "port = 8080\ndevice = \"eth1\"\n",
              "only where its 'mode' is \"direct\""},
        Wrong{"Mac", "port = 8080\n", "mac = \"02:00:00:00:00:1\"\n",
              "'service.backend.mac' must be a MAC address"},
        Wrong{"MacOfAGroup", "port = 8080\n", "mac = \"01:00:5e:00:00:01\"\n",
              "'service.backend.mac' must be"},
        Wrong{"PathWithoutHttp", "name = \"web\"", "check = { path = \"/\" }",
              "only where the 'kind' of its check"},
        Wrong{"HttpWithoutPath", "name = \"web\"", "check = { kind = \"http\" }",
              "with a 'path' that begins with /"},
        Wrong{"Path", "name = \"web\"", "check = { kind = \"http\", path = \"/a b\" }",
              "'service.check.path' must be"},
        Wrong{"Weight", "port = 8080\n", "port = 8080\nweight = 101\n", "'service.backend.weight' must be"}),
    [](const auto& tested) { return tested.param.name; });

TEST(Settings, WithoutServiceAreWrong) {
    const auto read = parseConfiguration("", "test.toml");
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().sentence(), HasSubstr("there is no [[service]]"));
}

} // namespace
} // namespace tna::balancer::test
