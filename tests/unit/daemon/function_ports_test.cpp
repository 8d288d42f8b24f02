// SPDX-License-Identifier: Apache-2.0
#include "daemon/function_ports.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class FunctionPortsTest : public ::testing::Test {
protected:
    void SetUp() override {
        for (const auto& [ifindex, name] : {std::pair{2U, "eth0"}, {3U, "eth1"}, {4U, "eth2"}}) {
            network_.links[ifindex] = {.ifindex = ifindex, .name = name};
            plan_.ports[ifindex].name = name;
        }
    }
    [[nodiscard]] FunctionPorts ports() const {
        return functionPorts({"eth0", "eth1", "eth9"}, network_, plan_);
    }

    model::Network network_;
    assemble::Plan plan_;
};

TEST_F(FunctionPortsTest, ThoseThatAreThereAreUsable) {
    EXPECT_THAT(ports().usable, ElementsAre(Pair("eth0", 2U), Pair("eth1", 3U)));
    EXPECT_THAT(ports().against, IsEmpty());
    plan_.ports.clear();
    EXPECT_EQ(ports().usable.size(), 2U) << "ports that tnad has nothing to do with";
}

TEST_F(FunctionPortsTest, WhatTakesTagsOutOfFramesIsNotSteered) {
    network_.links[2].vlanRxOffload = true;
    network_.links[3].vlanRxOffload = true;
    network_.links[3].kind = "veth"; // it gives the tag to XDP
    EXPECT_THAT(ports().usable, ElementsAre(Pair("eth1", 3U)));
    EXPECT_THAT(ports().against, ElementsAre(Pair("eth0", HasSubstr("it takes VLAN tags out of frames"))));
    network_.links[2].vlanRxOffload = false;
    network_.links[2].serviceTagRxOffload = true;
    EXPECT_TRUE(ports().against.contains("eth0"));
}

TEST_F(FunctionPortsTest, NorIsWhatIsAtTcxOrSomebodyElses) {
    plan_.ports[2].hook = assemble::Hook::tcx;
    plan_.ports[3].reasons = {{"foreign-xdp", "there is another program", "detach it"}};
    EXPECT_THAT(ports().usable, IsEmpty());
    EXPECT_THAT(ports().against, ElementsAre(Pair("eth0", HasSubstr("it is accelerated at tcx")),
                                             Pair("eth1", HasSubstr("there is another program"))));
}

TEST_F(FunctionPortsTest, WhatIsAtTcxByItselfMovesForIt) {
    plan_.ports[2].hook = assemble::Hook::tcx;
    plan_.ports[2].wouldMove = true;
    EXPECT_THAT(ports().usable, ElementsAre(Pair("eth0", 2U), Pair("eth1", 3U)));
    EXPECT_FALSE(whyNotSteered({"eth0"}, network_, plan_));
}

TEST_F(FunctionPortsTest, AFunctionIsToldOfItsOwnPortsOnly) {
    plan_.ports[3].hook = assemble::Hook::tcx;
    EXPECT_FALSE(whyNotSteered({"eth0", "eth9"}, network_, plan_));
    const auto why = whyNotSteered({"eth0", "eth1"}, network_, plan_);
    ASSERT_TRUE(why);
    EXPECT_THAT(why->sentence(), HasSubstr("no frames of eth1 can be steered"));
    EXPECT_THAT(why->hint, HasSubstr("'tcx' under [ports]"));
}

} // namespace
} // namespace tna::daemon
