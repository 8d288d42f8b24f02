// SPDX-License-Identifier: Apache-2.0
// Other people's data planes: what they are asked to do, and what is said of those that cannot be measured.
// Stand-ins take the place of what is not installed.
#include "base/file.hpp"
#include "bench/measure/line_up.hpp"
#include "in_folder.hpp"
#include "unwatched.hpp"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tna::bench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class Contenders : public InFolder {
protected:
    void SetUp() override {
        InFolder::SetUp();
        path_ = std::getenv("PATH");
    }
    void TearDown() override {
        if (!path_.empty())
            ::setenv("PATH", path_.c_str(), 1);
    }
    /// A program that comes before others of its name, and writes down how it is called.
    void standIn(const std::string& name, const std::string& script) {
        const auto file = folder_->path() + "/" + name;
        ASSERT_TRUE(writeFile(file, script));
        fs::permissions(file, fs::perms::owner_all);
        ::setenv("PATH", (folder_->path() + ":" + path_).c_str(), 1);
    }
    [[nodiscard]] std::string recorded() const { return readFile(folder_->path() + "/record").value_or(""); }
    static Entrant measured(const std::string& name, const bench::Setup& setup = {.flows = 3}) {
        const Unwatched watcher;
        auto entrants = lineUp({name}, TNAD, setup, watcher, [](const std::string&) {});
        EXPECT_TRUE(entrants) << entrants.error().sentence();
        if (!entrants)
            return {};
        auto entrant = std::move(entrants->front());
        if (!entrant.lane)
            return entrant;
        const auto sample = entrant.lane->measure({0.01, 1000});
        EXPECT_TRUE(sample) << sample.error().sentence();
        if (sample) {
            EXPECT_EQ(sample->total.wrong, 0U);
            EXPECT_EQ(sample->total.sent, sample->total.received - sample->total.twice + sample->lost());
        }
        return entrant;
    }
    static bool installed(const std::string& file) { return ::access(file.c_str(), X_OK) == 0; }

    std::string path_;
};

TEST_F(Contenders, WhatIsNotInstalledIsShownWithTheReason) {
    ::setenv("PATH", "/nowhere", 1);
    const Unwatched watcher;
    const auto missing = [&](const std::string& name, Scenario scenario) {
        const auto entrants =
            lineUp({name}, TNAD, {.scenario = scenario}, watcher, [](const std::string&) {});
        return entrants ? entrants->front().notMeasured : entrants.error().sentence();
    };
    EXPECT_THAT(missing("dpdk", Scenario::bridge), HasSubstr("'dpdk-testpmd' is not installed (apt-get"));
    EXPECT_THAT(missing("ovs", Scenario::bridge), HasSubstr("'ovs-vswitchd' is not installed (apt-get"));
    EXPECT_THAT(missing("polycube", Scenario::bridge), HasSubstr("'polycubed' is not installed"));
    EXPECT_THAT(missing("xdp-forward", Scenario::router), HasSubstr("'xdp-forward' is not installed"));
}

TEST_F(Contenders, WhatEndsAtOnceIsShownWithItsLastWords) {
    standIn("dpdk-testpmd", "#!/bin/sh\necho first\necho EAL: no driver >&2\nexit 3\n");
    EXPECT_THAT(measured("dpdk").notMeasured,
                HasSubstr("does not run here: it ended with exit code 3: EAL: no driver"));
}

/// It takes its ports from Linux's bridge, and forwards nothing.
class PolycubeAsked : public Contenders {
protected:
    static constexpr const char* begins = "polycubed --addr 127.0.0.1 --port 9000\n";

    void SetUp() override {
        Contenders::SetUp();
        standIn("polycubed", R"(#!/usr/bin/python3
import http.server, os, sys
with open(os.path.join(os.path.dirname(sys.argv[0]), "record"), "a") as record:
    record.write("polycubed " + " ".join(sys.argv[1:5]) + "\n")
assert os.path.exists(sys.argv[sys.argv.index("--configfile") + 1])
http.server.HTTPServer(("127.0.0.1", 9000), http.server.SimpleHTTPRequestHandler).serve_forever()
)");
        standIn("polycubectl", "#!/bin/sh\necho polycubectl \"$@\" >> \"$(dirname \"$0\")/record\"\n");
    }
};

TEST_F(PolycubeAsked, ForASimpleBridgeAndNotBelieved) {
    EXPECT_THAT(measured("polycube").notMeasured, HasSubstr("does not forward correctly: 0 of 3 frames"));
    EXPECT_EQ(recorded(), std::string(begins) + "polycubectl simplebridge add br1 type=XDP_DRV\n"
                                                "polycubectl br1 ports add p0 peer=d0\n"
                                                "polycubectl br1 ports add p1 peer=d1\n");
}

TEST_F(PolycubeAsked, ForABridgeWithVlansAndSpanningTree) {
    EXPECT_THAT(measured("polycube-bridge").notMeasured, HasSubstr("0 of 3 frames"));
    EXPECT_EQ(recorded(), std::string(begins) + "polycubectl bridge add br1 type=XDP_DRV stp-enabled=true\n"
                                                "polycubectl br1 ports add p0 peer=d0\n"
                                                "polycubectl br1 ports add p1 peer=d1\n"
                                                "polycubectl br1 stp 1 set forward-delay=4\n");
}

/// What Linux's rules do there, it does by its NAT at a port of its router.
TEST_F(PolycubeAsked, ForARouterThatForwardsAPort) {
    (void)measured("polycube", {.scenario = Scenario::forward, .flows = 3});
    EXPECT_THAT(recorded(), HasSubstr("polycubectl router add r1 type=XDP_DRV\n"));
    EXPECT_THAT(recorded(),
                ::testing::EndsWith("polycubectl nat add nat1 type=XDP_DRV\npolycubectl attach nat1 r1:p0\n"
                                    "polycubectl nat1 rule port-forwarding append external-ip=10.1.0.3 "
                                    "external-port=9 internal-ip=10.2.0.2 internal-port=2009 proto=udp\n"));
}

/// Linux itself routes behind the stand-in, so that the way from start to end is gone.
TEST_F(Contenders, XdpForwardIsLoadedAndUnloaded) {
    standIn("xdp-forward", "#!/bin/sh\necho xdp-forward \"$@\" >> \"$(dirname \"$0\")/record\"\n");
    {
        const auto entrant = measured("xdp-forward", {.scenario = Scenario::router, .flows = 3});
        EXPECT_THAT(entrant.notMeasured, IsEmpty());
        EXPECT_EQ(entrant.tcp, Tcp::works);
        EXPECT_EQ(recorded(), "xdp-forward load d0 d1\n");
    }
    EXPECT_EQ(recorded(), "xdp-forward load d0 d1\nxdp-forward unload d0 d1\n");
}

TEST_F(Contenders, RealConnectionsTellWhatHandsOnUnfinishedFrames) {
    EXPECT_EQ(measured("linux").tcp, Tcp::works);
    EXPECT_EQ(measured("tna").tcp, Tcp::works);
    EXPECT_EQ(measured("ceiling").tcp, Tcp::withoutOffloads);
    EXPECT_EQ(measured("direct").tcp, Tcp::notTried);
    EXPECT_EQ(measured("tna", {.scenario = Scenario::router6}).tcp, Tcp::works);
}

class Installed : public Contenders, public ::testing::WithParamInterface<const char*> {};

TEST_P(Installed, ForwardsWholeFramesOrSaysWhyNot) {
    const std::string name = GetParam();
    if (!installed(name.starts_with("ovs") ? "/usr/sbin/ovs-vswitchd" : "/usr/bin/dpdk-testpmd"))
        GTEST_SKIP() << "needs what " << name << " is made of";
    const auto entrant = measured(name);
    if (!entrant.lane)
        GTEST_SKIP() << name << " does not run here: " << entrant.notMeasured;
    EXPECT_EQ(entrant.cores, 1U);
    EXPECT_NE(entrant.tcp, Tcp::notTried);
}

INSTANTIATE_TEST_SUITE_P(All, Installed, ::testing::Values("ovs", "ovs-packet", "dpdk", "dpdk-packet"),
                         [](const auto& parameter) {
                             std::string name = parameter.param;
                             std::erase(name, '-');
                             return name;
                         });

TEST(ContenderNames, AllStandsForThoseOfTheScenario) {
    const auto all = expandContenders({"tna", "all"}, Scenario::bridge);
    EXPECT_EQ(all.front(), "tna");
    EXPECT_EQ(std::ranges::count(all, "tna"), 1);
    EXPECT_EQ(std::ranges::count(all, "ovs"), 1);
    EXPECT_EQ(std::ranges::count(expandContenders({"all"}, Scenario::router6), "ovs"), 0);
    EXPECT_THAT(problemWithContender("dpdk", Scenario::router),
                HasSubstr("choose it with --scenario bridge"));
    EXPECT_THAT(problemWithContender("nobody", Scenario::router), StartsWith("there is no contender"));
}

} // namespace
} // namespace tna::bench
