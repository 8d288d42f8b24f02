// SPDX-License-Identifier: Apache-2.0
// A routing daemon moves all routes at once, while packets are sent: with the fast path as without it, a
// packet that was sent after the kernel had announced the new next hop goes there.
#include "bird_fixture.hpp"

#include <sys/socket.h>

namespace tna::test {
namespace {

/// Whatever the next hop, it is known already where packets stay fast; Linux has to confirm it now and then.
constexpr std::uint64_t fastAtLeast = 500;

TEST_P(BirdTest, RoutesAreWithdrawnAndComeBack) {
    ASSERT_NO_FATAL_FAILURE(sendUntilRoutedTo(1));
    ASSERT_NO_FATAL_FAILURE(tell(1, "disable announced"));
    ASSERT_NO_FATAL_FAILURE(sendUntilRoutedTo(2));
    expectArrivalsOnlyAt(2);
    ASSERT_NO_FATAL_FAILURE(tell(1, "enable announced"));
    ASSERT_NO_FATAL_FAILURE(sendUntilRoutedTo(1));
    expectArrivalsOnlyAt(1);
    if (GetParam().accelerated)
        expectFastPackets(fastAtLeast);
}

TEST_P(BirdTest, LinkFailsAndComesBack) {
    ASSERT_NO_FATAL_FAILURE(sendUntilRoutedTo(1));
    setLink(1, "down");
    ASSERT_NO_FATAL_FAILURE(sendUntilRoutedTo(2));
    expectArrivalsOnlyAt(2);
    setLink(1, "up");
    ASSERT_NO_FATAL_FAILURE(sendUntilRoutedTo(1));
    expectArrivalsOnlyAt(1);
}

INSTANTIATE_TEST_SUITE_P(Routers, BirdTest,
                         ::testing::Values(Setup{"PlainIpv4", AF_INET, 20'000, false},
                                           Setup{"Ipv4", AF_INET, 100'000, true},
                                           Setup{"PlainIpv6", AF_INET6, 20'000, false},
                                           Setup{"Ipv6", AF_INET6, 20'000, true}),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

} // namespace
} // namespace tna::test
