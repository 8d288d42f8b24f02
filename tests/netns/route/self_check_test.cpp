// SPDX-License-Identifier: Apache-2.0
// The fast path and the kernel's lookup disagree about a packet: routing is left to Linux, and it is told.
#include "route_fixture.hpp"
#include "support/own_objects.hpp"

#include <arpa/inet.h>
#include <tna/fastpath.h>

namespace tna::test {
namespace {

class RouteSelfCheck : public AcceleratedRouteTest {
protected:
    void SetUp() override {
        AcceleratedRouteTest::SetUp();
        disagrees_ = true;
        if (IsSkipped())
            return;
        must("ip route add 10.9.0.0/16 via 10.0.1.2");
        must("ip route add 10.10.0.0/16 via 10.0.2.2");
    }
    [[nodiscard]] nlohmann::json status() { return controller_->status()["self_check"]; }
    /// The remembered way of all packets becomes that of those to the other network.
    static void plant() {
        const auto gateway = ::inet_addr("10.0.2.2");
        std::optional<tna_route> other;
        for (const auto& route : entriesOfOwnMaps<tna_route>("tna_routes"))
            if (route.gateway == gateway && route.egress_dev != 0)
                other = route;
        ASSERT_TRUE(other);
        changeEntriesOfOwnMaps<tna_route>("tna_routes", [&](tna_route& route) {
            if (route.egress_dev == 0)
                return;
            auto wrong = *other;
            wrong.addresses = route.addresses;
            wrong.start = route.start;
            wrong.epoch = route.epoch;
            wrong.packets = route.packets;
            wrong.bytes = route.bytes;
            route = wrong;
        });
    }
};

TEST_F(RouteSelfCheck, WayThatIsAnothersPausesRouting) {
    const auto one = packet({.to = "10.9.1.1"});
    const auto two = packet({.to = "10.10.1.1"});
    const auto expectRight = [&](const std::string& reason) {
        EXPECT_EQ(treat(one), (Treatment{slowPath(reason), routedTo(one)}));
    };
    for (int i = 0; i < 2; i++) {
        expectFast(one);
        expectFast(two, 2);
    }
    // Whatever moves the generation of the routes meanwhile has the way evaluated anew.
    ASSERT_TRUE(eventually([&] {
        plant();
        return treat(one) == Treatment{slowPath("route-unproved"), routedTo(one)};
    }));
    EXPECT_TRUE(status()["paused"].empty()) << "a change may explain it";
    ASSERT_TRUE(eventually([&] {
        plant();
        EXPECT_EQ(treat(one).out, routedTo(one));
        return status()["paused"] == nlohmann::json{"route"};
    }));
    expectRight("self-check");
    EXPECT_EQ(treat(two), (Treatment{slowPath("self-check"), routedTo(two, 2)}));
    controller_->onTick();
    EXPECT_EQ((*controller_->port("p0"))["features"][0]["reasons"][0]["code"], "self-check");
    const auto found = status()["found"];
    EXPECT_EQ(found["from"], "10.0.0.2");
    EXPECT_EQ(found["to"], "10.9.1.1");
    EXPECT_EQ(found["fast_path"]["gateway"], "10.0.2.2");
    EXPECT_EQ(found["kernel"]["gateway"], "10.0.1.2");
    EXPECT_EQ(found["kernel"]["device"], "p1");

    EXPECT_TRUE(controller_->pause(std::nullopt, false));
    ASSERT_TRUE(reaches("p0", "accelerated"));
    EXPECT_TRUE(eventually([&] { return treat(one) == Treatment{fastPath(), routedTo(one)}; }));
}

} // namespace
} // namespace tna::test
