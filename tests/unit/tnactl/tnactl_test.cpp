// SPDX-License-Identifier: Apache-2.0
#include "tnactl/client.hpp"
#include "tnactl/document.hpp"
#include "tnactl/render.hpp"
#include "tnactl/render_event.hpp"
#include "tnactl/render_rules.hpp"
#include "tnactl/table.hpp"
#include "tnactl/trace_command.hpp"
#include "tnactl/unknown_port.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tna::ctl {
namespace {

using nlohmann::json;

TEST(Table, NumbersAlignRightAndTextLeft) {
    Table table{{"NAME", "COUNT"}};
    table.add({"a", "1"});
    table.add({"long", "100"});
    EXPECT_EQ(table.text(), "NAME  COUNT\na         1\nlong    100\n");
}

TEST(Rules, OfFlowtablesSayWhereToLook) {
    const nlohmann::json document{{"flowtables", {{{"family", "inet"}, {"table", "fw4"}, {"name", "ft"}}}}};
    EXPECT_NE(renderRules(document).find("There is a flowtable: inet fw4 ft. What is in it passes no rules"),
              std::string::npos);
}

TEST(Rules, SayWhatIsInTheWayThatIsNoSingleRule) {
    const nlohmann::json document{
        {"learning",
         {{"active", true},
          {"impossible", nullptr},
          {"because",
           {{{"packets", "ip"}, {"reason", "rules look at tcp flags"}, {"hint", "accept before"}}}},
          {"ip", {{"tcp", false}, {"udp", false}}},
          {"ip6", {{"tcp", true}, {"udp", true}}}}}};
    EXPECT_NE(renderRules(document).find("  ip: rules look at tcp flags\n    accept before\n"),
              std::string::npos);
}

TEST(Rules, SayWhatIsLearntOfWhatIsExempt) {
    nlohmann::json document{{"learning",
                             {{"active", true},
                              {"ip", {{"udp", true}, {"exempt_udp", true}, {"exempt_tcp", true}}},
                              {"ip6", {{"exempt_tcp", true}}}}}};
    EXPECT_NE(renderRules(document).find(
                  "  IPv4: UDP; exempt from connection tracking: UDP, TCP\n"
                  "  IPv6: none, because the rules are not steady; exempt from connection tracking: TCP\n"),
              std::string::npos);
}

/// Of the protocols of which anything is translated.
TEST(Rules, SayWhyTranslatedTcpIsNotLearnt) {
    const auto at = [](const char* packets, bool translates) {
        return nlohmann::json{{"packets", packets},
                              {"hook", "postrouting"},
                              {"chains", {{{"table", "t"}, {"new_only", translates}}}}};
    };
    nlohmann::json document{
        {"learning",
         {{"active", true}, {"ip", {{"tcp", true}}}, {"ip6", {{"tcp", true}, {"translated_tcp", false}}}}},
        {"hooks", {at("ip", true), at("ip6", false)}}};
    EXPECT_NE(renderRules(document).find("TCP over IPv4 that is translated (NAT) is left to Linux"),
              std::string::npos);
    document["hooks"] = {at("ip", true), at("ip6", true)};
    EXPECT_NE(renderRules(document).find("TCP over IPv4 and IPv6 that"), std::string::npos);
    document["learning"]["ip"]["translated_tcp"] = true;
    EXPECT_NE(renderRules(document).find("TCP over IPv6 that"), std::string::npos);
    document["hooks"] = {at("ip", true), at("ip6", false)};
    EXPECT_EQ(renderRules(document).find("that is translated"), std::string::npos);
}

TEST(Rules, OfBridgesAreToldApart) {
    nlohmann::json document{
        {"learning",
         {{"active", false},
          {"impossible", nullptr},
          {"because", {{{"packets", "bridge"}, {"reason", "rules look at TTL"}, {"hint", "do not"}}}},
          {"bridge", {{"active", true}, {"impossible", nullptr}, {"tcp", false}, {"udp", true}}}}}};
    const auto out = renderRules(document);
    EXPECT_NE(out.find("Flows that rules of bridges (family bridge) let pass are learnt.\n  bridged: UDP\n"
                       "  bridge: rules look at TTL\n    do not\n"),
              std::string::npos)
        << out;
    EXPECT_EQ(out.find("Nothing is learnt"), std::string::npos) << out;
    document["learning"]["bridge"]["impossible"] = "no tracepoints";
    EXPECT_NE(renderRules(document).find("(family bridge) are left to Linux: no tracepoints"),
              std::string::npos);
    document["learning"]["bridge"] = nullptr;
    EXPECT_NE(renderRules(document).find("Nothing is learnt"), std::string::npos);
}

TEST(Human, UnitsOfThousands) {
    EXPECT_EQ(human(0), "0");
    EXPECT_EQ(human(999), "999");
    EXPECT_EQ(human(7430000), "7.43 M");
}

TEST(Status, RatesComeFromTwoSamples) {
    const json before{{"ports", {{{"name", "p0"}, {"fast_packets", 100}, {"slow_packets", 1}}}}};
    const json now{{"version", "1"},
                   {"uptime_s", 5},
                   {"fdb", "in place"},
                   {"ports",
                    {{{"name", "p0"},
                      {"bridge", "br0"},
                      {"state", "accelerated"},
                      {"hook", "xdp-native"},
                      {"profile", "bridge"},
                      {"fast_packets", 1100},
                      {"slow_packets", 1},
                      {"why", nullptr}}}}};
    EXPECT_EQ(renderStatus(withRates(now, before, 0.5)),
              "tnad 1, up 5 s, FDB in place\n\n"
              "PORT  BRIDGE  STATE        HOOK        PROFILE    FAST  FAST/s  SLOW  SLOW/s  WHY\n"
              "p0    br0     accelerated  xdp-native  bridge   1.10 k  2.00 k     1       0\n");
}

/// Who has just installed it on a laptop, and who has a router.
TEST(Status, SaysWhatIsMissingAndNothingOfBridgesWhereThereAreNone) {
    json now{{"version", "1"}, {"uptime_s", 5}, {"fdb", "not available"}, {"ports", json::array()}};
    EXPECT_TRUE(renderStatus(now).starts_with("tnad 1, up 5 s\nThere are no ports here: "))
        << renderStatus(now);
    EXPECT_NE(renderStatus(now).find("net.ipv4.ip_forward"), std::string::npos);
    now["ports"] = {{{"name", "eth0"}, {"bridge", nullptr}, {"state", "accelerated"}}};
    EXPECT_EQ(renderStatus(now).find("FDB"), std::string::npos) << renderStatus(now);
}

TEST(Status, PortWithoutAnEarlierSampleHasNoRate) {
    const json now{{"ports", {{{"name", "p0"}, {"fast_packets", 7}}}}};
    const json other{{"ports", {{{"name", "p1"}, {"fast_packets", 1}}}}};
    EXPECT_EQ(withRates(now, other, 1), now);
    EXPECT_EQ(withRates(now, now, 0), now);
    EXPECT_EQ(withRates(now, json(), 1), now);
    EXPECT_NE(renderStatus(now).find("7       -"), std::string::npos);
}

TEST(Status, RateOfACounterThatStartedAgainIsNotNegative) {
    const json before{{"ports", {{{"name", "p0"}, {"fast_packets", 100}, {"slow_packets", 4}}}}};
    const json now{{"ports", {{{"name", "p0"}, {"fast_packets", 0}, {"slow_packets", 6}}}}};
    const auto port = withRates(now, before, 2)["ports"][0];
    EXPECT_EQ(port["fast_pps"], 0);
    EXPECT_EQ(port["slow_pps"], 1);
}

TEST(Client, NamesOfPortsAreEncodedInPaths) {
    EXPECT_EQ(pathOfPort("eth0.5"), "/v1/ports/eth0.5");
    EXPECT_EQ(pathOfPort("a?b%41@\xc3\xa9"), "/v1/ports/a%3Fb%2541%40%C3%A9");
}

TEST(Port, ReasonsAreSentences) {
    const json document{
        {"port", {{"name", "p0"}, {"state", "linux"}, {"fast_packets", 0}, {"slow_packets", 2}}},
        {"features",
         {{{"feature", "bridge"},
           {"reasons", {{{"code", "x"}, {"text", "it is so"}, {"hint", "do this"}}}}}}},
        {"slow_path", {{{"code", "capture"}, {"text", "somebody captures"}, {"packets", 2}}}}};
    EXPECT_EQ(renderPort(document), "p0: linux\n  bridge is left to Linux: it is so\n    do this\n\n"
                                    "0 frames took the fast path, 2 were left to Linux:\n"
                                    "FRAMES  REASON   BECAUSE\n     2  capture  somebody captures\n");
}

TEST(Route, TellsBothWays) {
    json document{
        {"to", "10.0.1.2"},
        {"from", "10.0.0.2"},
        {"port", "p0"},
        {"received_as", "br0"},
        {"kernel", {{"type", "unicast"}, {"gateway", nullptr}, {"device", "p1"}, {"error", nullptr}}},
        {"fast_path",
         {{"action", "forward"}, {"port", "p1"}, {"destination_mac", "d"}, {"source_mac", "s"}}}};
    EXPECT_EQ(renderRoute(document), "10.0.1.2 from 10.0.0.2 iif p0 (received as br0)\n"
                                     "  kernel:    unicast dev p1\n"
                                     "  fast path: out of p1 to d from s\n");
    document["fast_path"]["vlan"] = {{"protocol", "802.1Q"}, {"id", 100}};
    EXPECT_NE(renderRoute(document).find("out of p1 to d from s in VLAN 100 (802.1Q)\n"), std::string::npos);
    document["received_as"] = "p0";
    document["kernel"] = {{"error", "Network is unreachable"}};
    document["fast_path"] = {{"action", "linux"}, {"reason", "not-routed"}, {"text", "no route"}};
    EXPECT_EQ(renderRoute(document), "10.0.1.2 from 10.0.0.2 iif p0\n"
                                     "  kernel:    Network is unreachable\n"
                                     "  fast path: left to Linux: no route (not-routed)\n");
    EXPECT_EQ(pathOfRoute("p?", "1.2.3.4", "::1"), "/v1/ports/p%3F/route?from=1.2.3.4&to=%3A%3A1");
}

TEST(Graph, TreeShowsWhatIsNeededBelowWhatNeedsIt) {
    const json graph{{"nodes",
                      {{{"id", "a"}, {"kind", "port"}, {"label", "p0"}},
                       {{"id", "b"}, {"kind", "bridge"}, {"label", "br0"}}}},
                     {"edges", {{{"from", "a"}, {"to", "b"}, {"why", "belongs to it"}}}}};
    EXPECT_EQ(renderGraphTree(graph), "port p0\n└─ bridge br0  (belongs to it)\n");
    EXPECT_NE(renderGraphDot(graph).find("\"a\" -> \"b\" [label=\"belongs to it\"];"), std::string::npos);
}

TEST(Graph, WhatSeveralNeedIsToldOnce) {
    const auto node = [](const char* id) { return json{{"id", id}, {"kind", "k"}, {"label", id}}; };
    const auto edge = [](const char* from, const char* to) {
        return json{{"from", from}, {"to", to}, {"why", "w"}};
    };
    const json graph{{"nodes", {node("p"), node("q"), node("b"), node("f")}},
                     {"edges", {edge("p", "b"), edge("q", "b"), edge("b", "f")}}};
    EXPECT_EQ(renderGraphTree(graph), "k p\n└─ k b  (w)\n   └─ k f  (w)\nk q\n└─ k b  (w; see above)\n");
}

TEST(Graph, CyclesEnd) {
    const json graph{{"nodes", {{{"id", "r"}}, {{"id", "a"}}}},
                     {"edges", {{{"from", "r"}, {"to", "a"}}, {{"from", "a"}, {"to", "a"}}}}};
    EXPECT_LT(renderGraphTree(graph).size(), 200U);
}

/// Every text of a document, whatever it is called.
json hostile(const json& document) {
    if (document.is_string())
        return "\x1b]0;x\x07\u009b31m\n" + document.get<std::string>();
    auto changed = document;
    if (document.is_structured())
        for (auto& value : changed)
            value = hostile(value);
    return changed;
}

bool harmless(const std::string& text) {
    return std::ranges::none_of(
               text,
               [](unsigned char letter) { return (letter < 0x20 && letter != '\n') || letter == 0x7f; }) &&
           text.find("\u009b") == std::string::npos;
}

TEST(Rendering, NamesDoNotControlTheTerminal) {
    const json port{{"name", "p0"}, {"bridge", "br0"}, {"state", "linux"},
                    {"hook", "h"},  {"profile", "p"},  {"why", "w"}};
    const json reason{{"code", "c"}, {"text", "t"}, {"hint", "h"}, {"packets", 1}};
    const json features{{{"feature", "f"}, {"reasons", {reason}}, {"name", "n"}, {"detail", "d"}}};
    const json node{{"id", "a"}, {"kind", "k"}, {"label", "l"}, {"details", {{"alias", "x"}}}};
    const auto document =
        hostile({{"version", "1"},
                 {"fdb", "f"},
                 {"uptime_s", 1},
                 {"ports", {port}},
                 {"port", port},
                 {"features", features},
                 {"slow_path", {reason}},
                 {"nodes", {node}},
                 {"edges", json::array()},
                 {"kernel", {{"release", "r"}, {"lockdown", "l"}, {"type", "t"}, {"gateway", "g"}}},
                 {"guards", {port}},
                 {"drivers", {port}}});
    const auto event = [&](const char* kind) {
        auto made = hostile({{"time", "t"},
                             {"port", "p0"},
                             {"state", "linux"},
                             {"reasons", {reason}},
                             {"module", "m"},
                             {"version", "v"},
                             {"why", "w"},
                             {"fdb", "f"}});
        made["event"] = kind;
        return made;
    };
    const auto packet = hostile({{"time", "t"},
                                 {"port", "p0"},
                                 {"length", 60},
                                 {"packet", {{"source_mac", "s"}, {"ether_type", "e"}}},
                                 {"decision", {{"by", "b"}, {"action", "a"}, {"reason", reason}}}});
    std::vector<std::string> shown{renderStatus(document),       renderPort(document),
                                   renderGraphTree(document),    renderGraphDot(document),
                                   renderCapabilities(document), renderPacket(packet),
                                   documentText(document, 2)};
    for (const auto* kind :
         {"port", "frames", "pause", "begin", "configuration", "module", "fast-path", "unheard-of"})
        shown.push_back(renderEvent(event(kind)));
    for (const auto& text : shown) {
        EXPECT_TRUE(harmless(text)) << text;
        EXPECT_NE(text.find("]0;x"), std::string::npos) << text;
    }
    // As JSON it is the same document all the same.
    EXPECT_EQ(json::parse(documentText(document)), document);
}

TEST(Ports, ThatMayHaveBeenMeantAreNamed) {
    EXPECT_EQ(portsHint("et0", {"eth0", "p1"}), "did you mean 'eth0'? the ports are eth0, p1");
    EXPECT_EQ(portsHint("nope", {"eth0", "p1"}), "the ports are eth0, p1");
    EXPECT_EQ(portsHint("nope", {}), "there are no ports here: no bridge has one, and nothing is routed");
    EXPECT_NE(portsHint("nope", std::vector<std::string>(100, "x")).find(" and 88 more"), std::string::npos);
}

TEST(Rendering, SurvivesAnyJson) {
    for (const auto& document : {json(), json(3), json::array(), json::object(), json{{"ports", 3}},
                                 json{{"ports", {1, "x", nullptr}}}, json{{"port", 3}},
                                 json{{"nodes", {{{"id", 3}}}}, {"edges", {{{"from", nullptr}}}}},
                                 json{{"features", {{{"reasons", 3}}}}}}) {
        EXPECT_NO_THROW((void)renderStatus(withRates(document, document, 1))) << document;
        EXPECT_NO_THROW((void)renderPort(document)) << document;
        EXPECT_NO_THROW((void)renderRoute(document)) << document;
        EXPECT_NO_THROW((void)renderGraphTree(document)) << document;
        EXPECT_NO_THROW((void)renderGraphDot(document)) << document;
        EXPECT_NO_THROW((void)renderCapabilities(document)) << document;
    }
}

} // namespace
} // namespace tna::ctl
