// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/testbed/temporary_folder.hpp"
#include "support/namespace.hpp"

#include <gtest/gtest.h>
#include <optional>

namespace tna::bench {

/// With a folder for files, that goes with the test.
class InFolder : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto why = test::cannotUseNamespaces(); !why.empty())
            GTEST_SKIP() << why;
        auto folder = TemporaryFolder::make();
        ASSERT_TRUE(folder);
        folder_.emplace(std::move(*folder));
    }
    std::optional<TemporaryFolder> folder_;
};

} // namespace tna::bench
