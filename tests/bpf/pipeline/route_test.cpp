// SPDX-License-Identifier: Apache-2.0
// The routing module's straight line, run by hand (BPF_PROG_TEST_RUN): frames of senders always get the
// closer look, for what their buffers may hold, and these do not.
#include "capability/kernel.hpp"
#include "deploy/fast_path.hpp"
#include "route_fixture.hpp"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

template <typename Router>
class RoutePipeline : public Accelerated<Router> {
protected:
    void SetUp() override {
        Accelerated<Router>::SetUp(); // the kernel runs a program for a port only if the port has XDP
        if (!this->IsSkipped())
            load();
    }
    void load() {
        auto probe = deploy::KernelProbe::load();
        ASSERT_TRUE(probe) << probe.error().sentence();
        const auto facts = probe->readNamespace();
        ASSERT_TRUE(facts);
        auto loaded = deploy::FastPath::load({16, 256}, *facts, capability::probeKernel().hookFunctions,
                                             probe->casts());
        ASSERT_TRUE(loaded) << loaded.error().sentence();
        fastPath_ = std::move(*loaded);
        for (const char* port : {"p0", "p1", "p2"})
            ASSERT_TRUE(fastPath_->addSlot(::if_nametoindex(port)));
        const auto program = fastPath_->program({.route = true, .veth = false});
        ASSERT_TRUE(program) << program.error().sentence();
        program_ = *program;
    }
    /// What becomes of a frame that comes in by p0.
    [[nodiscard]] std::pair<int, Frame> ran(const Frame& frame) const {
        Frame done{std::vector<std::uint8_t>(frame.bytes.size() + 64)};
        xdp_md context{};
        context.data_end = static_cast<__u32>(frame.bytes.size());
        context.ingress_ifindex = ::if_nametoindex("p0");
        LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.bytes.data(), .data_out = done.bytes.data(),
                    .data_size_in = static_cast<__u32>(frame.bytes.size()),
                    .data_size_out = static_cast<__u32>(done.bytes.size()), .ctx_in = &context,
                    .ctx_size_in = sizeof(context), .repeat = 1);
        EXPECT_EQ(bpf_prog_test_run_opts(program_, &options), 0);
        done.bytes.resize(options.data_size_out);
        return {static_cast<int>(options.retval), done};
    }
    void expectRouted(const Frame& frame, const std::string& what) const {
        EXPECT_EQ(ran(frame), std::pair(int{XDP_REDIRECT}, Router::routed(frame))) << what;
    }
    void expectUntouched(const Frame& frame, const std::string& what) const {
        EXPECT_EQ(ran(frame), std::pair(int{XDP_PASS}, frame)) << what;
    }
    void expectCloserLooks(const Frame& frame) {
        struct Change {
            std::vector<std::string> there;
            std::string back;
        };
        const std::string filter = "protocol all u32 match u32 0 0 flowid 1:1";
        const std::vector<Change> changes = {
            {{"tc qdisc add dev p0 clsact", "tc filter add dev p0 ingress " + filter},
             "tc qdisc del dev p0 clsact"},
            {{"tc qdisc add dev p1 clsact", "tc filter add dev p1 egress " + filter},
             "tc qdisc del dev p1 clsact"},
            {{"tc qdisc add dev p1 root tbf rate 1gbit burst 1m latency 50ms"}, "tc qdisc del dev p1 root"},
            {{"nft add table netdev t",
              "nft add chain netdev t c { type filter hook egress device p1 priority 0; }"},
             "nft delete table netdev t"}};
        for (const auto& change : changes) {
            expectRouted(frame, "before " + change.there.front());
            expectRouted(frame, "once more, from the cache");
            for (const auto& words : change.there)
                must(words);
            expectUntouched(frame, change.there.back());
            must(change.back);
        }
        expectRouted(frame, "before a capture");
        const auto socket = Router::capture(nullptr, ETH_P_ALL);
        expectUntouched(frame, "a capture");
    }

    std::unique_ptr<deploy::FastPath> fastPath_;
    int program_ = -1;
};

using RouteStraightLine = RoutePipeline<RouteTest>;
using Route6StraightLine = RoutePipeline<Route6Test>;

TEST_F(RouteStraightLine, SeesWhatDeservesACloserLook) {
    expectCloserLooks(packet());
}

TEST_F(Route6StraightLine, SeesWhatDeservesACloserLook) {
    expectCloserLooks(packet());
}

TEST_F(Route6StraightLine, SeesThatARouteHasExpired) {
    must("ip -6 route add fd09::/16 via fd00:0:0:1::2 expires 3");
    const auto frame = packet({.to = "fd09::1"});
    expectRouted(frame, "at first");
    expectRouted(frame, "from the cache");
    const auto expired = [] {
        return !command({"ip", "-6", "route", "get", "fd09::1"}).output.contains("via fd00:0:0:1::2");
    };
    ASSERT_TRUE(eventually(expired, std::chrono::seconds(20))) << "the route does not expire";
    expectUntouched(frame, "expired");
}

} // namespace
} // namespace tna::test
