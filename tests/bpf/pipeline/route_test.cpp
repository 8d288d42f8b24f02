// SPDX-License-Identifier: Apache-2.0
// The routing module's straight line, run by hand (BPF_PROG_TEST_RUN): frames of senders always get the
// closer look, for what their buffers may hold, and these do not.
#include "capability/kernel.hpp"
#include "closer_looks.hpp"
#include "deploy/fast_path.hpp"
#include "route_fixture.hpp"
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
        const auto program = fastPath_->program({.route = true, .veth = false});
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
    void expectCloserLooks(const Frame& frame) {
        auto changes = closerLooks();
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
