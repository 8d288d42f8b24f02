// SPDX-License-Identifier: Apache-2.0
// The daemon steered: with tnactl, and with a configuration that is read again.
#include "base/file.hpp"
#include "netns/daemon/daemon_fixture.hpp"
#include "tnactl/client.hpp"

#include <algorithm>
#include <csignal>
#include <functional>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace tna::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Control : public Daemon {
protected:
    void SetUp() override {
        Daemon::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        start();
        ASSERT_TRUE(accelerated()) << stateOf("p0");
    }
    [[nodiscard]] CommandResult tnactl(std::vector<std::string> words) const {
        words.insert(words.begin(), {TNACTL, "--socket", socket()});
        return command(words);
    }
    void expectStates(const std::string& p0, const std::string& p1) {
        EXPECT_TRUE(eventually([&] { return stateOf("p0") == p0 && stateOf("p1") == p1; }))
            << stateOf("p0") << " " << stateOf("p1");
    }
};

TEST_F(Control, PausedPortIsLeftToLinuxUntilItIsResumed) {
    EXPECT_EQ(tnactl({"pause", "p0"}).output, "p0 left to Linux\n");
    expectStates("paused", "accelerated");
    EXPECT_FALSE(xdpOn("p0"));
    EXPECT_THAT(tnactl({"explain", "p0"}).output,
                HasSubstr("paused by the operator\n    tnactl resume p0\n"));
    expectForwarding();
    EXPECT_EQ(tnactl({"resume", "p0"}).output, "p0 accelerated again where possible\n");
    expectStates("accelerated", "accelerated");
}

TEST_F(Control, AllPortsArePausedAndResumedTogether) {
    EXPECT_EQ(tnactl({"pause"}).exitCode, 0);
    expectStates("paused", "paused");
    EXPECT_THAT(tnactl({"status"}).output, HasSubstr("PAUSED"));
    expectForwarding();
    EXPECT_EQ(tnactl({"resume"}).exitCode, 0);
    expectStates("accelerated", "accelerated");
}

TEST_F(Control, EveryCommandSpeaksJsonAndTables) {
    for (const auto& words : std::vector<std::vector<std::string>>{{"status"},
                                                                   {"explain", "p0"},
                                                                   {"graph"},
                                                                   {"capabilities"},
                                                                   {"rules"},
                                                                   {"pause", "p1"},
                                                                   {"resume", "p1"}}) {
        EXPECT_FALSE(tnactl(words).output.empty());
        auto asJson = words;
        asJson.emplace_back("--json");
        const auto run = tnactl(asJson);
        EXPECT_EQ(run.exitCode, 0) << run.output;
        EXPECT_TRUE(json::parse(run.output, nullptr, false).is_object()) << run.output;
    }
    const auto status = json::parse(tnactl({"status", "--json"}).output, nullptr, false);
    EXPECT_TRUE(status["ports"][0].contains("fast_pps"));
    EXPECT_THAT(tnactl({"graph", "--dot"}).output, ::testing::StartsWith("digraph"));
}

TEST_F(Control, LinksTcAndNetfilterAreInTheGraph) {
    must("tc qdisc add dev p0 ingress");
    must("tc filter add dev p0 ingress u32 match u32 0 0");
    const auto shown = [&](const char* what) {
        return tnactl({"graph"}).output.find(what) != std::string::npos;
    };
    EXPECT_TRUE(eventually([&] { return shown("tc-filters ingress"); })) << tnactl({"graph"}).output;
    if (command({"nft", "add", "table", "bridge", "t"}).exitCode != 0)
        GTEST_SKIP() << "needs nftables for the bridge family";
    must("nft add chain bridge t f { type filter hook forward priority 0 ; }");
    EXPECT_TRUE(eventually([&] { return shown("netfilter-hook bridge forward"); }))
        << tnactl({"graph"}).output;
}

TEST_F(Control, RuleThatIsInTheWayIsNamedWithWhatToDoAboutIt) {
    if (command({"nft", "add", "table", "inet", "guard"}).exitCode != 0)
        GTEST_SKIP() << "needs nft, and a kernel with nf_tables";
    must("nft add chain inet guard onward { type filter hook forward priority 0 ; }");
    must("nft add rule inet guard onward limit rate 5/second accept");
    bool listed = false;
    const auto hookOf = [&](const std::string& packets) {
        const auto document = json::parse(tnactl({"rules", "--json"}).output, nullptr, false);
        for (auto hook : document["hooks"])
            if (hook["packets"] == packets && hook["hook"] == "forward") {
                // Where the kernel does not list what netfilter calls, that is in the way, too.
                listed = !document["functions"].is_null();
                auto rules = json::array();
                for (const auto& one : hook["in_the_way"])
                    if (!one["handle"].is_null())
                        rules.push_back(one);
                hook["in_the_way"] = rules;
                return hook;
            }
        return json();
    };
    const auto before = hookOf("ip6");
    EXPECT_EQ(before["steady"], (json{{"tcp", false}, {"udp", false}}));
    ASSERT_EQ(before["in_the_way"].size(), 1U) << before;
    EXPECT_EQ(before["in_the_way"][0]["rule"], "limit accept");
    EXPECT_EQ(before["in_the_way"][0]["chain"], "onward");
    const std::string hint = before["in_the_way"][0]["hint"];
    EXPECT_THAT(tnactl({"rules"}).output, HasSubstr(hint));
    // What it says is to be done helps.
    const auto from = hint.find('`') + 1;
    must(hint.substr(from, hint.rfind('`') - from));
    for (const auto* packets : {"ip", "ip6"}) {
        const auto hook = hookOf(packets);
        EXPECT_TRUE(hook["in_the_way"].empty()) << hook;
        EXPECT_EQ(hook["steady"], (json{{"tcp", listed}, {"udp", listed}}));
    }
    EXPECT_EQ(tnactl({"rules"}).output.contains("In the way"), !listed);
}

TEST_F(Control, ConfigurationIsReadAgainAndAWrongOneChangesNothing) {
    ASSERT_TRUE(writeFile(directory_ + "/conf", "[ports]\nexclude_kinds = []\nexclude = [\"p1\"]\n"));
    process_->signal(SIGHUP);
    expectStates("accelerated", "linux");
    ASSERT_TRUE(writeFile(directory_ + "/conf", "[ports]\nexclude = 3\n"));
    process_->signal(SIGHUP);
    // What was asked after the signal is answered after it, because there is one event loop.
    must("ip link set p0 type bridge_slave learning off");
    expectStates("linux", "linux");
    EXPECT_THAT(tnactl({"explain", "p0"}).output, HasSubstr("learning is off"));
    EXPECT_THAT(tnactl({"explain", "p1"}).output, HasSubstr("the configuration excludes this name"));
}

TEST_F(Control, EventsAreToldAsTheyHappen) {
    std::vector<json> events;
    const auto happened = [&](const json& wanted) {
        return std::ranges::any_of(events, [&](const json& event) {
            return std::ranges::all_of(wanted.items(), [&](const auto& item) {
                return event.contains(item.key()) && event[item.key()] == item.value();
            });
        });
    };
    // Each change is made when what the one before it brings has been told.
    const std::vector<std::pair<std::function<void()>, json>> story{
        {[&] { EXPECT_EQ(tnactl({"pause", "p0"}).exitCode, 0); }, {{"event", "pause"}, {"port", "p0"}}},
        {[] {}, {{"event", "port"}, {"port", "p0"}, {"state", "paused"}, {"profile", nullptr}}},
        {[&] { EXPECT_EQ(tnactl({"resume"}).exitCode, 0); }, {{"event", "resume"}, {"port", nullptr}}},
        {[] {}, {{"event", "port"}, {"port", "p0"}, {"state", "accelerated"}}},
        {[&] {
             ASSERT_TRUE(writeFile(directory_ + "/conf", "[ports]\nexclude = 3\n"));
             process_->signal(SIGHUP);
         },
         {{"event", "configuration"}, {"action", "refused"}}},
        {[] { must("ip link set p1 nomaster"); }, {{"event", "port"}, {"port", "p1"}, {"state", "gone"}}},
    };
    auto next = story.begin();
    const auto followed =
        ctl::Client(socket()).follow("GET", "/v1/events/stream", json::object(), [&](const json& event) {
            events.push_back(event);
            if (event["event"] == "begin")
                next->first();
            while (next != story.end() && happened(next->second))
                if (++next != story.end())
                    next->first();
            return next != story.end();
        });
    EXPECT_TRUE(followed) << followed.error().sentence();
    EXPECT_EQ(next, story.end()) << next->second;
    for (const auto& event : events)
        EXPECT_TRUE(event.contains("time")) << event;
}

TEST_F(Control, EventsAreShownToPeople) {
    Process following(
        {"sh", "-c",
         std::string(TNACTL) + " --socket " + socket() + " events --count 2 >" + directory_ + "/shown"});
    const auto shown = [&] { return readFile(directory_ + "/shown").value_or(""); };
    ASSERT_TRUE(eventually([&] { return shown().find("  tnad ") != std::string::npos; }));
    EXPECT_EQ(tnactl({"pause", "p0"}).exitCode, 0);
    EXPECT_TRUE(eventually([&] {
        return shown().find("p0: paused: paused by the operator\n") != std::string::npos;
    })) << shown();
    EXPECT_THAT(shown(), HasSubstr("p0: paused by the operator\n"));
}

} // namespace
} // namespace tna::test
