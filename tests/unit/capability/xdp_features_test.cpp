// SPDX-License-Identifier: Apache-2.0
#include "capability/xdp_features.hpp"

#include <gtest/gtest.h>

namespace tna::capability {
namespace {

constexpr XdpFeatures wholeFrames{.native = true, .redirectTarget = true, .frags = false};
constexpr XdpFeatures severalBuffers{.native = true, .redirectTarget = true, .frags = true};

TEST(MaxMtu, DriverWithFramesInSeveralBuffersTakesWhatTheDeviceTakes) {
    EXPECT_EQ(maxMtuWithXdp(severalBuffers, 9710), 9710U);
    EXPECT_EQ(maxMtuWithXdp(severalBuffers, 0), 0U);
}

TEST(MaxMtu, OtherwiseAFrameMustFitIntoAPage) {
    EXPECT_EQ(maxMtuWithXdp(wholeFrames, 9710), 3506U);
    EXPECT_EQ(maxMtuWithXdp(wholeFrames, 0), 3506U);
    EXPECT_EQ(maxMtuWithXdp(wholeFrames, 1500), 1500U);
}

TEST(MaxMtu, WithoutNativeXdpTheDeviceAloneDecides) {
    EXPECT_EQ(maxMtuWithXdp({}, 9710), 9710U);
}

} // namespace
} // namespace tna::capability
