// SPDX-License-Identifier: Apache-2.0
// The daemon while the kernel's tables change as fast as somebody can change them.
#include "base/file.hpp"
#include "netns/daemon/daemon_fixture.hpp"
#include "tnactl/client.hpp"

#include <filesystem>
#include <fmt/format.h>

namespace tna::test {
namespace {

/// How many routes there are in a table of IPv4, as tnad says.
std::string routesOf(const ctl::Client& client, const std::string& table) {
    const auto graph = client.get("/v1/graph");
    if (!graph)
        return graph.error().sentence();
    for (const auto& node : (*graph)["nodes"])
        if (node.value("label", "") == "IPv4 table " + table)
            return node.at("details").value("unicast", "none");
    return "no such table";
}

/// TNA_TEST_ROUTES in the environment: as many of them, instead of a few thousand.
TEST_F(Daemon, AnswersWhileRoutesFlapAndKnowsThemAllAtLast) {
    const char* wanted = std::getenv("TNA_TEST_ROUTES");
    const unsigned routes = wanted != nullptr ? static_cast<unsigned>(std::atoi(wanted)) : 5000;
    must("ip address add 10.0.0.1/24 dev br0");
    std::string comes, goes;
    for (unsigned i = 0; i < routes; i++) {
        const auto route =
            fmt::format("11.{}.{}.{}/32 via 10.0.0.2 table 77\n", i >> 16, i >> 8 & 0xff, i & 0xff);
        comes += "route add " + route;
        goes += "route del " + route;
    }
    ASSERT_TRUE(writeFile(directory_ + "/comes", comes));
    ASSERT_TRUE(writeFile(directory_ + "/goes", goes));
    start();
    ASSERT_TRUE(accelerated()) << stateOf("p0");

    Process flapping({"sh", "-c",
                      fmt::format("cd {} && for i in 1 2 3 4; do ip -batch comes && ip -batch goes; done && "
                                  "ip -batch comes && touch done",
                                  directory_)});
    const ctl::Client client(socket());
    unsigned answers = 0;
    EXPECT_TRUE(eventually(
        [&] {
            const auto status = client.get("/v1/status");
            EXPECT_TRUE(status) << status.error().sentence();
            answers += status ? 1 : 0;
            return std::filesystem::exists(directory_ + "/done");
        },
        std::chrono::seconds(60 + routes / 1000)));
    EXPECT_GT(answers, 1U);
    expectForwarding();
    EXPECT_TRUE(accelerated()) << stateOf("p0");
    // Large tables are counted at leisure.
    EXPECT_TRUE(eventually([&] { return routesOf(client, "77") == std::to_string(routes); },
                           std::chrono::seconds(60 + routes / 1000)))
        << routesOf(client, "77");
}

/// What is gone before it could be accelerated is no failure.
TEST_F(Daemon, PortsThatAreGoneAtOnceAreNoWarnings) {
    const auto log = directory_ + "/log";
    process_.emplace(std::vector<std::string>{"sh", "-c", "exec \"$@\" 2>" + log, "sh", TNAD, "--config",
                                              directory_ + "/conf", "--socket", socket(), "--log-level",
                                              "warning"});
    ASSERT_TRUE(accelerated());
    for (int i = 0; i < 40; i++) {
        const auto n = std::to_string(i);
        ASSERT_TRUE(writeFile(directory_ + "/batch", "link add q" + n + " type veth peer name r" + n +
                                                         "\nlink set q" + n + " master br0 up\nlink set r" +
                                                         n + " up\nlink del q" + n + "\n"));
        must("ip -batch " + directory_ + "/batch");
    }
    must("ip link add last type veth peer name tsal");
    must("ip link set last master br0 up");
    ASSERT_TRUE(eventually([&] { return stateOf("last") == "accelerated"; })) << "all has been read by now";
    EXPECT_EQ(readFile(log).value_or("no log"), "");
}

} // namespace
} // namespace tna::test
