// SPDX-License-Identifier: Apache-2.0
#include "driver.hpp"
#include "router_script.hpp"
#include "router_world.hpp"

namespace tna::test {
namespace {

constexpr unsigned steps = 800;

class RouterEquivalence : public EquivalenceTest<RouterWorld, RouterScript> {
protected:
    void SetUp() override { start(RouterScript(GetParam(), steps)); }
};

TEST_P(RouterEquivalence, SameFramesAtSamePorts) {
    compare(steps);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RouterEquivalence, ::testing::Range(1U, 1U + seeds(6)));

} // namespace
} // namespace tna::test
