// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/kernel_objects.hpp"

#include <gtest/gtest.h>

namespace tna::bench {
namespace {

TEST(KernelObjects, NumbersAreFoundByTheirWholeName) {
    const std::string text =
        "pos:\t0\nlink_type:\txdp\nlink_id:\t17\nprog_tag:\tabc\nprog_id:\t230\nifindex:\t4\n";
    EXPECT_EQ(fdinfoNumber(text, "link_id"), 17U);
    EXPECT_EQ(fdinfoNumber(text, "prog_id"), 230U);
    EXPECT_EQ(fdinfoNumber(text, "pos"), 0U);
    EXPECT_EQ(fdinfoNumber(text, "id"), 0U);
    EXPECT_EQ(fdinfoNumber(text, "map_id"), 0U);
    EXPECT_EQ(fdinfoNumber("map_id:\t9", "map_id"), 9U);
    EXPECT_EQ(fdinfoNumber("", "map_id"), 0U);
}

TEST(KernelObjects, TextNamesEachKind) {
    const KernelObjects objects{{1, 2}, {3}, {}};
    EXPECT_EQ(objects.count(), 3U);
    EXPECT_EQ(objects.text(), "2 programs, 1 maps, 0 links");
}

} // namespace
} // namespace tna::bench
