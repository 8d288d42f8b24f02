// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bridge_fixture.hpp"

namespace tna::test {

/// Something that Linux can be told to do, and how the fast path treats a frame from station 1 behind p0 to
/// station 2 behind p1 meanwhile.
struct Condition {
    const char* name;
    std::vector<std::string> prepare; ///< once; if this fails, the kernel or the machine lacks what it takes
    std::vector<std::string> set;
    std::string reason; ///< empty: the fast path goes on
    std::vector<std::string> unset;
    Frame frame = FrameBuilder().ethernet(station(2), station(1)).udp();
    bool linuxHasFirst = false; ///< packets after each change, the first one of them
};
void PrintTo(const Condition& condition, std::ostream* out);
[[nodiscard]] std::string nameOf(const ::testing::TestParamInfo<Condition>& parameter);

class ConditionTest : public BridgeTest, public ::testing::WithParamInterface<Condition> {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (!IsSkipped())
            learn();
        prepare(GetParam());
    }
};

} // namespace tna::test
