// SPDX-License-Identifier: Apache-2.0
// The straight line of packets with two tags, run by hand as in route_test.cpp.
#include "route_pipeline.hpp"
#include "vlan_route_fixture.hpp"

namespace tna::test {
namespace {

/// Packets come in with two tags, and leave with two others.
class BetweenStacks : public VlanStacksOf<RouteTest> {
public:
    static Frame in(const Ipv4& fields = {}) { return tagged(packet(fields), 10, 100, 0x88a8); }
    static Frame routed(const Frame&) { return tagged(RouteTest::routed(packet()), 20, 200, 0x88a8); }

protected:
    void SetUp() override {
        VlanStacksOf<RouteTest>::SetUp();
        if (IsSkipped())
            return;
        stack(0, "p0", 100, 10);
        stack(1, "p1", 200, 20);
        atLast(in(), {{1, {routed(in())}}});
    }
};

class VlanStraightLine : public RoutePipeline<BetweenStacks> {
protected:
    [[nodiscard]] assemble::Profile profile() const override {
        return {.route = true, .veth = false, .vlanDevices = true, .vlanStacks = true};
    }
};

TEST_F(VlanStraightLine, SeesWhatDeservesACloserLook) {
    expectCloserLooks(in(), closerLooks({"p0", "s0", "v0"}, {"p1", "s1", "v1"}));
}

} // namespace
} // namespace tna::test
