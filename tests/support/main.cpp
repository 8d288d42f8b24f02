// SPDX-License-Identifier: Apache-2.0
// What all test programs begin with. They end with 77 where nothing was tested, so that whoever runs them can
// tell that from success without reading what they say, which a program that fails later may have said as
// well.
#include <gtest/gtest.h>

int main(int argc, char** argv) {
    constexpr int skipped = 77;
    ::testing::InitGoogleTest(&argc, argv);
    if (const int failed = RUN_ALL_TESTS(); failed != 0)
        return failed;
    const auto& unit = *::testing::UnitTest::GetInstance();
    return unit.skipped_test_count() > 0 && unit.successful_test_count() == 0 ? skipped : 0;
}
