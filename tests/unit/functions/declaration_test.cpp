// SPDX-License-Identifier: Apache-2.0
#include "functions/declaration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::functions {
namespace {

using ::testing::HasSubstr;

TEST(Declaration, EverySettingIsRead) {
    const auto read = parseDeclaration(R"(
users = ["nobody", "1000"]
groups = ["dns"]
ports = ["eth0", "eth1"]
queues = [0, 3]
frames = 1024
frame_size = 4096
mode = "zero-copy"
otherwise = "drop"
[[rule]]
priority = 7
ports = ["eth1"]
vlan = 5
ether_type = "ipv4"
protocol = "tcp"
from = "10.0.0.0/8"
to = "192.0.2.1"
from_port = "1024-65535"
to_port = 53
tcp_flags = "syn,!ack"
[[rule]]
vlan = "none"
ether_type = 0x88b5
)",
                                       "dns", "f");
    ASSERT_TRUE(read) << read.error().sentence();
    Declaration wanted{.name = "dns",
                       .users = {"nobody", "1000"},
                       .groups = {"dns"},
                       .ports = {"eth0", "eth1"},
                       .queues = {0, 3},
                       .frames = 1024,
                       .frameSize = 4096,
                       .mode = Mode::zeroCopy,
                       .drop = true};
    wanted.rules.push_back({.priority = 7,
                            .ports = {"eth1"},
                            .vlan = 5,
                            .etherType = 0x0800,
                            .protocol = 6,
                            .from = parsePrefix("10.0.0.0/8"),
                            .to = parsePrefix("192.0.2.1"),
                            .fromPort = PortRange{1024, 65535},
                            .toPort = PortRange{53, 53},
                            .flagsMask = 18,
                            .flags = 2});
    wanted.rules.push_back({.vlan = 0, .etherType = 0x88b5});
    EXPECT_EQ(*read, wanted);
    EXPECT_EQ(read->longest(), 3840U);
}

struct Wrong {
    const char* name;
    const char* text;
    const char* said;
};

class Wrongs : public ::testing::TestWithParam<Wrong> {};

TEST_P(Wrongs, AreToldInASentence) {
    const auto read = parseDeclaration(GetParam().text, "f", "f.toml");
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().sentence(), HasSubstr(GetParam().said));
    EXPECT_EQ(read.error().code, ExitCode::usage);
}

#define RULE "ports = [\"p\"]\n[[rule]]\n"
INSTANTIATE_TEST_SUITE_P(
    All, Wrongs,
    ::testing::Values(
        Wrong{"NoPorts", "[[rule]]\nprotocol = 1\n", "'ports' must be a list of 1 to 16 names"},
        Wrong{"NoRule", "ports = [\"p\"]\n", "there is no [[rule]]"},
        Wrong{"PortTwice", "ports = [\"p\", \"p\"]\n[[rule]]\n", "names p twice"},
        Wrong{"ForeignPort", RULE "ports = [\"q\"]\n", "names q, which is not among"},
        Wrong{"Setting", "port = [\"p\"]\n", "there is no setting 'port'"},
        Wrong{"RuleSetting", RULE "dport = 3\n", "there is no setting 'rule.dport'"},
        Wrong{"Frames", "frames = 1000\n", "'frames' must be a power of two"},
        Wrong{"Queues", "queues = [1, 1]\n", "'queues' must be a list of different numbers up to 63"},
        Wrong{"Mode", "mode = \"fast\"\n", "'mode' must be one of"},
        Wrong{"Prefix", RULE "from = \"10.0.0.1/8\"\n",
              "f.toml:3: 'rule.from' must be an address or a prefix"},
        Wrong{"Ports", RULE "protocol = \"udp\"\nto_port = \"2-1\"\n",
              "'rule.to_port' must be a port or a range"},
        Wrong{"Versions", RULE "from = \"10.0.0.1\"\nto = \"::1\"\n", "of one IP version"},
        Wrong{"EtherType", RULE "from = \"10.0.0.1\"\nether_type = \"ipv6\"\n", "contradicts its addresses"},
        Wrong{"PortsOfWhat", RULE "to_port = 53\n", "'protocol' is to be \"tcp\" or \"udp\""},
        Wrong{"FlagsOfWhat", RULE "protocol = \"udp\"\ntcp_flags = \"syn\"\n", "'protocol' is to be \"tcp\""},
        Wrong{"Flags", RULE "protocol = \"tcp\"\ntcp_flags = \"syn,syn\"\n", "flags of TCP"},
        Wrong{"ProtocolOfArp", RULE "protocol = 6\nether_type = \"arp\"\n", "is not IP"},
        Wrong{"NotToml", "ports", "this is not TOML"}),
    [](const auto& parameter) { return parameter.param.name; });

TEST(Declaration, NamesAreThoseThatFilesMayHave) {
    for (const char* name : {"dns", "a.b-c_1", "X"})
        EXPECT_TRUE(isFunctionName(name)) << name;
    for (const char* name : {"", ".a", "-a", "a/b", "a b", "abcdefghijklmnopqrstuvwxyz0123456"})
        EXPECT_FALSE(isFunctionName(name)) << name;
}

} // namespace
} // namespace tna::functions
