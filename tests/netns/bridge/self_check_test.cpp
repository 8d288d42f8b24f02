// SPDX-License-Identifier: Apache-2.0
// What is fast and what is sure disagree about a frame: the bridge is left to Linux, and it is told.
#include "bridge_fixture.hpp"
#include "support/own_objects.hpp"

#include "api/line_sink.hpp"
#include "api/metrics.hpp"

#include <tna/fastpath.h>

namespace tna::test {
namespace {

class BridgeSelfCheck : public AcceleratedBridgeTest {
protected:
    void SetUp() override {
        AcceleratedBridgeTest::SetUp();
        disagrees_ = true;
        if (!IsSkipped() && watched())
            GTEST_SKIP() << "what is watched has one way only";
    }
    /// The flow from station 1 to station 2 leads to the port of another.
    static void plant() {
        std::optional<std::uint16_t> other;
        for (const auto& flow : entriesOfOwnMaps<tna_flow>("tna_flows"))
            if (flow.packets > 0)
                other = other ? std::max(*other, flow.out_slot) : flow.out_slot;
        const auto wrong = static_cast<std::uint16_t>(*other + 1);
        ASSERT_GT(changeEntriesOfOwnMaps<tna_flow>("tna_flows",
                                                   [&](tna_flow& flow) {
                                                       if (flow.packets > 0)
                                                           flow.out_slot = wrong;
                                                   }),
                  0U);
    }
    [[nodiscard]] nlohmann::json status() { return controller_->status()["self_check"]; }
};

TEST_F(BridgeSelfCheck, FlowThatLeadsElsewherePausesTheBridge) {
    const auto lines = std::make_shared<api::LineSink>();
    controller_->follow(lines);
    ASSERT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}}));
    EXPECT_TRUE(status()["paused"].empty());
    ASSERT_NO_FATAL_FAILURE(plant());
    // No frame goes the wrong way; a change may explain the first ones.
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("self-check"), {{1, {oneToTwo()}}}}));
    EXPECT_TRUE(status()["paused"].empty());
    ASSERT_TRUE(eventually([&] {
        EXPECT_EQ(treat(oneToTwo()).out, (Arrivals{{1, {oneToTwo()}}}));
        return status()["paused"] == nlohmann::json{"bridge"};
    }));
    // At once, of all flows, though nobody has looked yet.
    EXPECT_EQ(treat(twoToOne(), 1), (Treatment{slowPath("self-check"), {{0, {twoToOne()}}}}));
    controller_->onTick();
    const auto document = controller_->port("p0");
    EXPECT_EQ((*document)["port"]["state"], "linux");
    EXPECT_EQ((*document)["features"][0]["reasons"][0]["code"], "self-check");
    EXPECT_EQ(status()["found"]["from"], text(station(1)));
    EXPECT_EQ(status()["found"]["to"], text(station(2)));
    EXPECT_THAT(api::metrics(controller_->status()), ::testing::HasSubstr("tna_self_checks_failed_total 1"));
    EXPECT_THAT(lines->take(), ::testing::HasSubstr("\"event\":\"self-check\""));
    EXPECT_EQ(treat(oneToTwo()).out, (Arrivals{{1, {oneToTwo()}}}));

    EXPECT_TRUE(controller_->pause(std::nullopt, false));
    EXPECT_TRUE(status()["paused"].empty());
    ASSERT_TRUE(reaches("p0", "accelerated") && reaches("p1", "accelerated"));
    EXPECT_TRUE(eventually([&] { return treat(oneToTwo()).path == fastPath(); }));
}

/// Not every frame asks whether the bridge is paused: what is remembered must not hold any longer.
class BridgeSelfCheckNowAndThen : public BridgeSelfCheck {
protected:
    BridgeSelfCheckNowAndThen() { config_.kernel.selfCheck = 4; }
};

TEST_F(BridgeSelfCheckNowAndThen, WhatIsRememberedIsPausedAsWell) {
    if (atTcx())
        GTEST_SKIP() << "there each frame asks whether its port's place is another one's";
    ASSERT_EQ(treat(oneToTwo()).path, fastPath());
    ASSERT_NO_FATAL_FAILURE(plant());
    // By its way back, which is remembered, and not due for the next two frames.
    ASSERT_EQ(treat(twoToOne(), 1).path, fastPath());
    ASSERT_TRUE(eventually([&] {
        treat(oneToTwo());
        return status()["paused"] == nlohmann::json{"bridge"};
    }));
    EXPECT_EQ(treat(twoToOne(), 1), (Treatment{slowPath("self-check"), {{0, {twoToOne()}}}}));
}

} // namespace
} // namespace tna::test
