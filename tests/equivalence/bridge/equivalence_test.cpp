// SPDX-License-Identifier: Apache-2.0
#include "bridge_world.hpp"
#include "driver.hpp"
#include "script.hpp"

namespace tna::test {
namespace {

class Equivalence : public EquivalenceTest<BridgeWorld, Script> {
protected:
    void SetUp() override { start(Script(GetParam(), false)); }
};

TEST_P(Equivalence, SameFramesAtSamePorts) {
    compare(800);
}

/// On a bridge that filters VLANs; shorter, because emulated machines do it.
class VlanEquivalence : public Equivalence {
protected:
    void SetUp() override { start(Script(GetParam(), true)); }
};

TEST_P(VlanEquivalence, SameFramesAtSamePorts) {
    compare(200);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Equivalence, ::testing::Range(1U, 1U + seeds(8)));
INSTANTIATE_TEST_SUITE_P(Seeds, VlanEquivalence, ::testing::Range(1U, 1U + seeds(4)));

} // namespace
} // namespace tna::test
