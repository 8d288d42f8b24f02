// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <gtest/gtest.h>

/// In a test: what does not start fails it, but for what this machine lacks.
#define TNA_EXPECT_STARTED(result)                                                                           \
    if (!(result) && (result).error().isForLackOfSomething())                                                \
        GTEST_SKIP() << (result).error().sentence();                                                         \
    ASSERT_TRUE(result) << (result).error().sentence()
