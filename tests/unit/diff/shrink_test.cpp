// SPDX-License-Identifier: Apache-2.0
#include "diff/shrink.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace tna::diff {
namespace {

constexpr auto patience = std::chrono::seconds(60);

Case numbered(unsigned packets) {
    Case made;
    for (const auto* words : {"first", "second", "third"})
        made.steps.emplace_back(Command{words});
    for (unsigned i = 0; i < packets; i++)
        made.steps.emplace_back(Packet{i % 4, Frame(14, static_cast<std::uint8_t>(i))});
    return made;
}

bool has(const Case& what, const Step& step) {
    return std::ranges::find(what.steps, step) != what.steps.end();
}

TEST(Shrink, LeavesOnlyWhatIsNeeded) {
    const std::vector<Step> needed = {Command{"second"}, Packet{3, Frame(14, 3)}, Packet{2, Frame(14, 90)}};
    unsigned tries = 0;
    const auto small = shrink(
        numbered(200),
        [&](const Case& what) {
            tries++;
            return std::ranges::all_of(needed, [&](const Step& step) { return has(what, step); });
        },
        patience);
    EXPECT_EQ(small.steps, needed);
    EXPECT_LT(tries, 120U);
}

TEST(Shrink, OfWhatNeedsAllLeavesAll) {
    const auto all = numbered(9);
    EXPECT_EQ(shrink(all, [&](const Case& what) { return what == all; }, patience), all);
}

TEST(Shrink, EndsWhenTimeIsUp) {
    const auto all = numbered(1000);
    EXPECT_EQ(shrink(all, [](const Case&) { return true; }, std::chrono::seconds(-1)), all);
}

} // namespace
} // namespace tna::diff
