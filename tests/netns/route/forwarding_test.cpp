// SPDX-License-Identifier: Apache-2.0
#include "route_fixture.hpp"

namespace tna::test {
namespace {

using Routing = AcceleratedRouteTest;

TEST_F(Routing, PacketsGoToTheHostBehindAnotherPort) {
    expectFast(packet());
    expectFast(packet({.to = "10.0.2.2"}), 2);
    expectFast(packet());
}

} // namespace
} // namespace tna::test
