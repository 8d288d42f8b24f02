// SPDX-License-Identifier: Apache-2.0
// A cluster's services, in numbers: flows to them are fast, and what their endpoints become holds at once.
// TNA_TEST_SERVICES=1000 in the environment takes as many services as large clusters have, and 100 changes.
#include "kube_rules.hpp"
#include "ways_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sys/resource.h>

namespace tna::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr unsigned endpoints = 10, firstPort = 4000, client = 1, firstEndpoint = 0x20;

unsigned services() {
    const char* asked = std::getenv("TNA_TEST_SERVICES");
    return asked == nullptr ? 20 : std::max(20U, static_cast<unsigned>(std::strtoul(asked, nullptr, 10)));
}

double secondsSince(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

double processorSeconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// In megabytes.
long memory() {
    std::ifstream statm("/proc/self/statm");
    long total = 0, resident = 0;
    statm >> total >> resident;
    return resident * ::sysconf(_SC_PAGESIZE) >> 20;
}

class Kube : public RouteTest, public ::testing::WithParamInterface<KubeRules::Mode> {
protected:
    void SetUp() override {
        RouteTest::SetUp();
        if (IsSkipped())
            return;
        for (unsigned number = 0; number < endpoints; number++)
            must("ip neigh replace " + KubeRules::endpoint(number) + " lladdr " +
                 text(station(firstEndpoint + number)) + " dev p1 nud permanent");
        load(rules_.all(), false);
        if (IsSkipped() || HasFatalFailure())
            return;
        if (!std::filesystem::exists("/proc/sys/net/netfilter/nf_conntrack_udp_timeout_stream"))
            GTEST_SKIP() << "needs connection tracking";
        for (const char* timeout : {"timeout", "timeout_stream"})
            sysctl(std::string("net.netfilter.nf_conntrack_udp_") + timeout, "1000000");
        config_.limits.connections = 4096;
    }
    void load(const std::string& words, bool besides) {
        const auto path = testing::TempDir() + "kube-" + std::to_string(::getpid());
        std::ofstream(path) << words;
        auto command = rules_.loader(besides);
        command.push_back(path);
        const auto done = test::command(command);
        std::filesystem::remove(path);
        if (done.exitCode != 0 && !besides)
            GTEST_SKIP() << "this machine cannot load such rules: " << done.output;
        ASSERT_EQ(done.exitCode, 0) << done.output;
    }
    /// A flow to each of the first services; the endpoint is the one that Linux has chosen.
    struct Flow {
        unsigned service = 0;
        unsigned endpoint = 0;
    };
    static std::uint16_t portOf(const Flow& flow) {
        return static_cast<std::uint16_t>(firstPort + flow.service);
    }
    static Connection connectionOf(const Flow& flow) {
        return {.fromPort = portOf(flow),
                .to = KubeRules::addressOf(flow.service),
                .toPort = KubeRules::servicePort};
    }
    static Frame forth(const Flow& flow) {
        return withPorts(RouteTest::packet({.to = KubeRules::addressOf(flow.service)}), portOf(flow),
                         KubeRules::servicePort);
    }
    static Frame back(const Flow& flow) {
        return withPorts(ipv4Frame(portMac(1), station(firstEndpoint + flow.endpoint),
                                   {.from = KubeRules::endpoint(flow.endpoint), .to = "10.0.0.2"}),
                         KubeRules::endpointPort, portOf(flow));
    }
    static Arrivals forthOut(const Flow& flow) {
        return {{1,
                 {withPorts(oneHopFurther(RouteTest::packet({.to = KubeRules::endpoint(flow.endpoint)}),
                                          station(firstEndpoint + flow.endpoint), portMac(1)),
                            portOf(flow), KubeRules::endpointPort)}}};
    }
    static Arrivals backOut(const Flow& flow) {
        const auto frame = ipv4Frame(portMac(1), station(firstEndpoint + flow.endpoint),
                                     {.from = KubeRules::addressOf(flow.service), .to = "10.0.0.2"});
        return {{0,
                 {withPorts(oneHopFurther(frame, station(client), portMac(0)), KubeRules::servicePort,
                            portOf(flow))}}};
    }
    /// To which endpoint a flow's packet went; nothing: it is none that its service has.
    std::optional<unsigned> chosen(Flow flow, const Arrivals& out) {
        for (flow.endpoint = 0; flow.endpoint < endpoints; flow.endpoint++)
            if (out == forthOut(flow))
                return flow.endpoint;
        return std::nullopt;
    }
    /// Until Linux relies on all of them.
    void begin(unsigned count) {
        for (unsigned service = 0; service < count; service++) {
            Flow flow{service};
            const auto endpoint = chosen(flow, treat(forth(flow)).out);
            ASSERT_TRUE(endpoint);
            flow.endpoint = *endpoint;
            flows_.push_back(flow);
        }
        ASSERT_TRUE(eventually(
            [&] {
                for (const auto& flow : flows_) {
                    EXPECT_EQ(treat(back(flow), 1).out, backOut(flow));
                    EXPECT_EQ(treat(forth(flow)).out, forthOut(flow));
                }
                return HasFailure() || std::ranges::all_of(flows_, [](const Flow& flow) {
                           return isAssured(connectionOf(flow));
                       });
            },
            std::chrono::seconds(30)));
    }
    /// One packet each way. How many of the two were fast.
    std::uint64_t pass(const Flow& flow) {
        const auto there = treat(forth(flow)), again = treat(back(flow), 1);
        EXPECT_EQ(there.out, forthOut(flow)) << "service " << flow.service;
        EXPECT_EQ(again.out, backOut(flow)) << "service " << flow.service;
        return there.path.fast + again.path.fast;
    }
    void becomesFast(const Flow& flow) {
        ASSERT_TRUE(eventually(
            [&] {
                pump();
                return HasFailure() || pass(flow) == 2;
            },
            std::chrono::seconds(60)))
            << "service " << flow.service;
    }

    KubeRules rules_{GetParam(), services(), endpoints};
    std::vector<Flow> flows_;
};

TEST_P(Kube, FlowsToServicesAreFastAndFollowTheirEndpoints) {
    const unsigned changes = services() >= 1000 ? 100 : 8;
    ASSERT_NO_FATAL_FAILURE(begin(changes + 1));
    const auto before = memory();
    accelerate();
    if (IsSkipped())
        return;
    const auto began = Clock::now();
    const auto used = processorSeconds();
    ASSERT_NO_FATAL_FAILURE(rulesAreKnown());
    const auto known = secondsSince(began);
    const auto asked = Clock::now();
    const auto told = controller_->rules();
    fmt::print("{} services: {} rules known after {:.2f} s, read once in {:.2f} s; {:.2f} s of a processor, "
               "{} MB more\n",
               services(), told["rules"].get<unsigned>(), known, secondsSince(asked),
               processorSeconds() - used, memory() - before);
    EXPECT_EQ(told["learning"]["ip"]["udp"], true) << told["learning"];

    for (const auto& flow : flows_)
        pass(flow); // a lesson each way
    std::uint64_t fast = 0;
    for (const auto& flow : flows_)
        fast += pass(flow);
    EXPECT_EQ(fast, 2 * flows_.size());

    double settled = 0;
    const auto untouched = flows_.back();
    flows_.pop_back();
    for (auto& flow : flows_) {
        becomesFast(flow);
        std::vector<unsigned> others;
        for (unsigned number = 0; number < endpoints; number++)
            if (number != flow.endpoint)
                others.push_back(number);
        load(rules_.change(flow.service, others), true);
        const auto changed = Clock::now();
        // As with Linux alone, what is established goes on until the connection is forgotten; then the flow
        // goes to another endpoint at once.
        EXPECT_EQ(pass(flow), 0U) << "by rules that are yet to be judged";
        ASSERT_EQ(removeConnection(connectionOf(flow)), 0);
        const auto next = treat(forth(flow));
        const auto endpoint = chosen(flow, next.out);
        ASSERT_TRUE(endpoint) << "service " << flow.service;
        EXPECT_NE(*endpoint, flow.endpoint) << "service " << flow.service;
        EXPECT_EQ(next.path.fast, 0U);
        flow.endpoint = *endpoint;
        pass(flow);
        // Others are fast again when the rules have been read.
        becomesFast(untouched);
        settled += secondsSince(changed);
        if (HasFailure())
            return;
    }
    fmt::print("{} changes; flows of others fast again after {:.2f} s on average, {} MB more in all\n",
               changes, settled / changes, memory() - before);
}

INSTANTIATE_TEST_SUITE_P(Modes, Kube, ::testing::Values(KubeRules::Mode::nftables, KubeRules::Mode::iptables),
                         [](const auto& info) {
                             return info.param == KubeRules::Mode::nftables ? "Nftables" : "Iptables";
                         });

} // namespace
} // namespace tna::test
