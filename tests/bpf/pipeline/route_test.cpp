// SPDX-License-Identifier: Apache-2.0
// The routing module's straight line, run by hand (BPF_PROG_TEST_RUN): frames of senders always get the
// closer look, for what their buffers may hold, and these do not.
#include "bridged_route_fixture.hpp"
#include "capability/kernel.hpp"
#include "closer_looks.hpp"
#include "deploy/fast_path.hpp"
#include "support/program.hpp"

#include <linux/if_ether.h>
#include <net/if.h>

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
    [[nodiscard]] virtual assemble::Profile profile() const { return {.route = true, .veth = false}; }
    void load() {
        auto probe = deploy::KernelProbe::load();
        ASSERT_TRUE(probe) << probe.error().sentence();
        const auto facts = probe->readNamespace();
        ASSERT_TRUE(facts);
        const auto kernel = capability::probeKernel();
        ASSERT_TRUE(kernel) << kernel.error().sentence();
        auto loaded = deploy::FastPath::load({16, 256}, *facts, kernel->hookFunctions, probe->casts());
        ASSERT_TRUE(loaded) << loaded.error().sentence();
        fastPath_ = std::move(*loaded);
        for (const char* port : {"p0", "p1", "p2"})
            ASSERT_TRUE(fastPath_->addSlot(::if_nametoindex(port)));
        const auto program = fastPath_->program(profile());
        ASSERT_TRUE(program) << program.error().sentence();
        program_ = *program;
    }
    /// What becomes of a frame that comes in by p0.
    [[nodiscard]] std::pair<int, Frame> ran(const Frame& frame) const {
        return runProgram(program_, frame, ::if_nametoindex("p0"));
    }
    void expectRouted(const Frame& frame, const std::string& what) const {
        EXPECT_EQ(ran(frame), std::pair(int{XDP_REDIRECT}, Router::routed(frame))) << what;
    }
    void expectUntouched(const Frame& frame, const std::string& what) const {
        EXPECT_EQ(ran(frame), std::pair(int{XDP_PASS}, frame)) << what;
    }
    void expectCloserLooks(const Frame& frame, std::vector<CloserLook> changes = closerLooks()) {
        // Once more what comes first, when the links' coming up no longer makes the kernel move generations.
        changes.push_back(changes.front());
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

/// From one bridge to another, with its own program for p0.
template <typename Router>
class BridgedPipeline : public RoutePipeline<FromBridgeToBridgeOf<Router>> {
protected:
    [[nodiscard]] assemble::Profile profile() const override {
        const auto kernel = capability::probeKernel();
        return {.bridge = true,
                .route = true,
                .veth = false,
                .brNetfilter = kernel && kernel->brNetfilter,
                .bridges = true,
                .station = {Router::portMac(0)}};
    }
    /// Changes of which not every protocol's generation tells.
    void expectAsked(const std::string& option) {
        const auto packet = Router::packet();
        for (const std::string bridge : {"br0", "br1"}) {
            this->expectRouted(packet, "before " + bridge);
            this->expectRouted(packet, "once more, from the cache");
            must("ip link set " + bridge + " type bridge " + option + " 1");
            this->expectUntouched(packet, bridge);
            must("ip link set " + bridge + " type bridge " + option + " 0");
        }
        this->expectRouted(packet, "before generic XDP");
        Router::whileItDropsAll("br0", [&] { this->expectUntouched(packet, "generic XDP"); });
        this->expectRouted(packet, "after generic XDP");
    }
};

using RouteStraightLine = RoutePipeline<RouteTest>;
using Route6StraightLine = RoutePipeline<Route6Test>;
using BridgedStraightLine = BridgedPipeline<RouteTest>;
using Bridged6StraightLine = BridgedPipeline<Route6Test>;

TEST_F(RouteStraightLine, SeesWhatDeservesACloserLook) {
    expectCloserLooks(packet());
}

TEST_F(RouteStraightLine, SeesThatAPacketOfAKnownWayHasOptions) {
    expectRouted(packet(), "at first");
    expectRouted(packet(), "once more, from the cache");
    expectUntouched(packet({.options = 4}), "options");
}

TEST_F(RouteStraightLine, SeesThatAnotherRouteIsBetter) {
    expectRouted(packet(), "at first");
    expectRouted(packet(), "once more, from the cache");
    must("ip route add 10.0.1.2/32 via 10.0.2.2");
    EXPECT_EQ(ran(packet()), std::pair(int{XDP_REDIRECT}, routed(packet(), 2)));
}

TEST_F(Route6StraightLine, SeesWhatDeservesACloserLook) {
    expectCloserLooks(packet());
}

TEST_F(BridgedStraightLine, SeesWhatDeservesACloserLook) {
    expectCloserLooks(packet(), closerLooks({"p0", "br0"}, {"p1", "br1"}));
}

TEST_F(Bridged6StraightLine, SeesWhatDeservesACloserLook) {
    expectCloserLooks(packet(), closerLooks({"p0", "br0"}, {"p1", "br1"}));
}

TEST_F(BridgedStraightLine, SeesWhatBridgesAreToldToAsk) {
    expectAsked("nf_call_iptables");
}

TEST_F(Bridged6StraightLine, SeesWhatBridgesAreToldToAsk) {
    expectAsked("nf_call_ip6tables");
}

TEST_F(BridgedStraightLine, SeesThatAPacketIsTooLargeForThePort) {
    // A bridge whose MTU was set once no longer follows its ports'.
    for (const char* change : {"br1 mtu 1400", "br1 mtu 1500", "p1 mtu 600"})
        must(std::string("ip link set ") + change);
    const auto fits = packet({.payload = 584});
    expectRouted(fits, "as large as a bridge sends: it leaves room for a tag");
    expectRouted(fits, "once more, from the cache");
    expectUntouched(packet({.payload = 585}), "a byte more");
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
