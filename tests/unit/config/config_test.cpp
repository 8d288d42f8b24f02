// SPDX-License-Identifier: Apache-2.0
#include "config/config.hpp"
#include "config/selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::config {
namespace {

using ::testing::HasSubstr;

TEST(Config, EmptyFileMeansTheDefaults) {
    const auto config = parseConfig("", "f");
    ASSERT_TRUE(config);
    EXPECT_EQ(*config, Config{});
    EXPECT_THAT(config->ports.excludeKinds, ::testing::Contains("veth"));
    EXPECT_THAT(config->ports.tcxKinds, ::testing::Contains("veth"));
}

/// Whoever has veth at XDP, or not at all, has written this before there was a default for tcx.
TEST(Config, WhoSaysWhichKindsAreExcludedHasNoneAtTcxWithoutSayingSo) {
    const auto kinds = [](const std::string& text) {
        return parseConfig("[ports]\n" + text, "f").value_or(Config{}).ports.tcxKinds;
    };
    using Kinds = std::vector<std::string>;
    EXPECT_EQ(kinds("exclude_kinds = []\n"), Kinds{});
    EXPECT_EQ(kinds("exclude_kinds = ['veth']\n"), Kinds{});
    EXPECT_EQ(kinds("exclude_kinds = []\ntcx_kinds = ['tun']\n"), Kinds{"tun"});
    EXPECT_EQ(kinds("tcx_kinds = ['tun']\n"), Kinds{"tun"});
    EXPECT_EQ(kinds("exclude = ['eth0']\n"), Ports{}.tcxKinds);
}

TEST(Config, EverySettingIsRead) {
    const auto config = parseConfig(R"(
[ports]
include = ["eth*"]
exclude = ["eth9"]
exclude_drivers = ["foo"]
exclude_kinds = []
tcx_kinds = ["tun"]
tcx = ["eth8"]
finished_frames = ["veth*"]
rest = false
[kernel]
fdb = "mirror"
[daemon]
socket = "/tmp/s"
socket_group = "net"
change_group = "ops"
log_level = "debug"
[limits]
max_ports = 16
flows_per_cpu = 128
max_stations = 100
many_routes = 10
destinations = 4000
)",
                                    "f");
    ASSERT_TRUE(config) << config.error().sentence();
    const Config expected{{{"eth*"}, {"eth9"}, {"foo"}, {}, {"tun"}, {"eth8"}, {"veth*"}, {}, false},
                          {"mirror"},
                          {"/tmp/s", "net", "ops", "debug"},
                          {16, 128, 100, 10, 4000}};
    EXPECT_EQ(*config, expected);
}

struct Wrong {
    const char* name;
    const char* text;
    const char* says;
};
void PrintTo(const Wrong& wrong, std::ostream* out) {
    *out << wrong.name;
}
class WrongConfig : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongConfig, IsRefusedWithFileLineAndExpectation) {
    const auto config = parseConfig(GetParam().text, "tnad.conf");
    ASSERT_FALSE(config);
    EXPECT_THAT(config.error().sentence(), HasSubstr(GetParam().says));
    EXPECT_FALSE(config.error().hint.empty());
    EXPECT_EQ(config.error().code, ExitCode::usage);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, WrongConfig,
    ::testing::Values(
        Wrong{"Syntax", "a = 1\n[ports", "tnad.conf:2"},
        Wrong{"UnknownSection", "[port]\n", "tnad.conf:1: there is no setting 'port'"},
        Wrong{"UnknownKey", "[ports]\nincluded = []\n", "tnad.conf:2: there is no setting 'ports.included'"},
        Wrong{"KnownKeysAreNamed", "[limits]\nports = 1\n", "limits.max_ports"},
        Wrong{"NotTrueOrFalse", "[ports]\nrest = 1\n", "tnad.conf:2: 'rest' must be true or false"},
        Wrong{"ListOfNumbers", "[ports]\ninclude = [1]\n",
              "tnad.conf:2: 'include' must be a list of strings"},
        Wrong{"StringForList", "[ports]\nexclude = \"a\"\n", "tnad.conf:2: 'exclude' must be a list"},
        Wrong{"NumberForString", "[daemon]\nsocket_group = 3\n",
              "tnad.conf:2: 'socket_group' must be a string"},
        Wrong{"NumberForSocket", "[daemon]\nsocket = 3\n", "tnad.conf:2: 'socket' must be a path"},
        Wrong{"SocketWithoutName", "[daemon]\nsocket = \"\"\n", "tnad.conf:2: 'socket' must be a path"},
        Wrong{"SocketWithTooLongAName",
              "[daemon]\nsocket = "
              "\"/run/"
              "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
              "xxxxxx/tnad.sock\"\n",
              "tnad.conf:2: 'socket' must be a path of at most 107 bytes"},
        Wrong{"NoAddress", "[metrics]\nlisten = \"nonsense\"\n",
              "tnad.conf:2: 'listen' must be an address and a port"},
        Wrong{"AnyAddress", "[metrics]\nlisten = \"*:9472\"\n", "for instance \"127.0.0.1:9472\""},
        Wrong{"PortZero", "[metrics]\nlisten = \"[::1]:0\"\n", "a port from 1 to 65535"},
        Wrong{"NotAPowerOfTwo", "[limits]\nflows_per_cpu = 100\n", "must be a power of two from 64"},
        Wrong{"TooManyPorts", "[limits]\nmax_ports = 70000\n",
              "'max_ports' must be a whole number from 2 to 65535"},
        Wrong{"UnknownLogLevel", "[daemon]\n\nlog_level = \"loud\"\n",
              "tnad.conf:3: 'log_level' must be one of \"trace\", \"debug\""},
        Wrong{"UnknownWayToTheFdb", "[kernel]\nfdb = \"guess\"\n",
              "tnad.conf:2: 'fdb' must be one of \"auto\", \"in-place\", \"kfunc\", \"mirror\""},
        Wrong{"SectionIsNotATable", "limits = 3\n", "'limits' must be a table"}),
    [](const auto& parameter) { return parameter.param.name; });

/// Found by fuzzing: the parser is not prepared for them.
TEST(Config, CharactersThatTomlHasNoPlaceForAreRefusedWithTheirLine) {
    for (const std::string& text : {std::string("\n[\0\"s]", 6), std::string("\n\u0210 = 1"),
                                    std::string("\n[a\u0210]"), std::string("\n# \x07")}) {
        const auto config = parseConfig(text, "tnad.conf");
        ASSERT_FALSE(config) << text;
        EXPECT_THAT(config.error().what, HasSubstr("tnad.conf:2: ")) << text;
        EXPECT_THAT(config.error().cause, HasSubstr("a character with the code 0x")) << text;
    }
}

/// Where strings would begin, nobody can say: the parser gets to see no such character then.
TEST(Config, LettersInWhatIsNoTomlAtAll) {
    for (const std::string text :
         {"\n\u0210[", "\na = 'b' \u00a1", "\na = 4x'\u00fa'", "\na=+O['\u0123\"", "\na = 4.'\u0123'"}) {
        const auto config = parseConfig(text, "tnad.conf");
        ASSERT_FALSE(config) << text;
        EXPECT_THAT(config.error().what, HasSubstr("tnad.conf:2: ")) << text;
        EXPECT_THAT(config.error().cause, Not(HasSubstr("a character with the code"))) << text;
    }
}

TEST(Config, NameThatIsNoneIsRefused) {
    const auto config = parseConfig("\n[%ports]", "tnad.conf");
    ASSERT_FALSE(config);
    EXPECT_THAT(config.error().what, HasSubstr("tnad.conf:2: "));
}

TEST(Config, AllLettersBelongIntoStringsAndComments) {
    const auto config = parseConfig(
        "# \u0210 'no string\n[ports]\ninclude = [\"\u0210\\\"\", ''' '\u0210''' ] # \u0210\n", "f");
    ASSERT_TRUE(config) << config.error().sentence();
    EXPECT_EQ(config->ports.include, (std::vector<std::string>{"\u0210\"", " '\u0210"}));
}

TEST(Config, MarkOfByteOrderAtTheBeginningIsNothing) {
    const auto config = parseConfig("\xef\xbb\xbf[ports]\ninclude = [\"a\"]\n", "f");
    ASSERT_TRUE(config) << config.error().sentence();
    EXPECT_EQ(config->ports.include, std::vector<std::string>{"a"});
    EXPECT_FALSE(parseConfig("[ports]\n\xef\xbb\xbf", "f"));
}

TEST(Config, MetricsAreServedWhereItIsSaidOrNotAtAll) {
    for (const std::string listen : {"", "127.0.0.1:9472", "0.0.0.0:1", "[::]:65535"}) {
        const auto config = parseConfig("[metrics]\nlisten = '" + listen + "'\n", "f");
        ASSERT_TRUE(config) << config.error().sentence();
        EXPECT_EQ(config->metrics.listen, listen);
    }
}

TEST(Config, PatternsAreWhole) {
    for (const std::string key :
         {"include", "exclude", "exclude_drivers", "exclude_kinds", "tcx_kinds", "tcx", "finished_frames"}) {
        const auto parsed = [&](const std::string& pattern) {
            return parseConfig("[ports]\n" + key + " = ['*', '" + pattern + "']\n", "f");
        };
        for (const char* good : {"eth[0-9]", "[]]", "[!]a]", "[[:digit:]]*", "\\[", "a?b", ""})
            EXPECT_TRUE(parsed(good)) << key << " " << good;
        for (const char* bad : {"[a", "eth[", "[]", "[!]", "[[:digit:", "a\\", "[a\\]"}) {
            const auto refused = parsed(bad);
            ASSERT_FALSE(refused) << key << " " << bad;
            EXPECT_THAT(refused.error().what,
                        HasSubstr("f:2: '" + key + "' must be a list of shell patterns"));
        }
    }
}

TEST(Config, MissingFileSaysSo) {
    const auto config = loadConfig("/nonexistent/tnad.conf");
    ASSERT_FALSE(config);
    EXPECT_THAT(config.error().sentence(), HasSubstr("/nonexistent/tnad.conf"));
}

TEST(Selection, DefaultTakesHardwareAndHasVethAtTcx) {
    EXPECT_FALSE(excludedBy(Ports{}, "eth0", "ixgbe", ""));
    EXPECT_FALSE(excludedBy(Ports{}, "veth0", "veth", "veth"));
    EXPECT_TRUE(isForTcx(Ports{}, "veth0", "veth"));
    Ports none;
    none.tcxKinds.clear();
    const auto veth = excludedBy(none, "veth0", "veth", "veth");
    ASSERT_TRUE(veth);
    EXPECT_EQ(veth->code, "excluded-kind");
}

/// Kinds are excluded for what XDP does to their senders.
TEST(Selection, KindsForTcxAreNotExcludedAsKinds) {
    Ports ports;
    ports.tcxKinds = {"veth"};
    EXPECT_FALSE(excludedBy(ports, "veth0", "veth", "veth"));
    EXPECT_TRUE(excludedBy(ports, "tap0", "tun", "tun"));
    ports.exclude = {"veth*"};
    EXPECT_EQ(excludedBy(ports, "veth0", "veth", "veth")->code, "excluded-name");
}

TEST(Selection, PortsAreForTcxByKindOrName) {
    Ports ports;
    ports.tcxKinds.clear();
    EXPECT_FALSE(isForTcx(ports, "eth0", ""));
    ports.tcxKinds = {"veth"};
    ports.tcx = {"eth?"};
    EXPECT_TRUE(isForTcx(ports, "eth0", ""));
    EXPECT_TRUE(isForTcx(ports, "c1", "veth"));
    EXPECT_FALSE(isForTcx(ports, "lan0", ""));
    EXPECT_FALSE(isForTcx(ports, "tap0", "tun"));
}

TEST(Selection, NamesAreMatchedByPattern) {
    const Ports ports{{"eth*", "lan?"}, {"eth9*"}, {"bad"}, {}, {}};
    EXPECT_FALSE(excludedBy(ports, "eth0", "x", ""));
    EXPECT_FALSE(excludedBy(ports, "lan1", "x", ""));
    EXPECT_EQ(excludedBy(ports, "lan12", "x", "")->code, "excluded-name");
    EXPECT_EQ(excludedBy(ports, "eth99", "x", "")->code, "excluded-name");
    EXPECT_EQ(excludedBy(ports, "eth1", "bad", "")->code, "excluded-driver");
}

TEST(Selection, PromiseIsMatchedByPattern) {
    Ports ports;
    EXPECT_FALSE(promisesFinishedFrames(ports, "veth0"));
    ports.finishedFrames = {"rt-*"};
    EXPECT_TRUE(promisesFinishedFrames(ports, "rt-1"));
    EXPECT_FALSE(promisesFinishedFrames(ports, "veth0"));
}

} // namespace
} // namespace tna::config
