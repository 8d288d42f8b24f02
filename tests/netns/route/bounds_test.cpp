// SPDX-License-Identifier: Apache-2.0
// Searches that take long, and those that would take longer than they may: a packet goes where Linux sends
// it, or it is left to Linux. Never is a route that was not reached taken for one that is not there.
#include "bridged_route_fixture.hpp"

#include <fmt/format.h>
#include <random>

namespace tna::test {
namespace {

/// How many packets of each kind: one in many is evaluated from nothing, by chance.
constexpr unsigned several = 12;

/// All of 100.0.0.0/8 goes to one router behind p1, and all else to another. So do networks within
/// 100.0.0.0/8 that begin with the same address; of what is sent nothing is for them.
template <typename Router>
class SameAddress : public Router {
protected:
    void SetUp() override {
        Router::SetUp();
        if (this->IsSkipped())
            return;
        this->config_.limits.destinations = 4096;
        must("ip route add default via 10.0.1.2");
        must("ip neigh replace 10.0.1.3 lladdr " + text(station(9)) + " dev p1 nud permanent");
        must("ip route add 100.0.0.0/8 via 10.0.1.3");
    }
    /// One time with few routes, and one time with what is done where they are many.
    void many(bool many) { this->config_.limits.manyRoutes = many ? 0 : 1000000; }
    static std::vector<std::string> nested(unsigned from, unsigned to, const std::string& words = {}) {
        std::vector<std::string> lines;
        for (unsigned length = from; length <= to; length++)
            lines.push_back(fmt::format("route add 100.0.0.0/{} via 10.0.1.2{}", length, words));
        return lines;
    }
    /// Packets to destinations that are new, by next hops that are not.
    static std::vector<Frame> mixed() {
        std::vector<Frame> frames;
        for (unsigned i = 1; i <= several; i++) {
            frames.push_back(RouteTest::packet({.to = fmt::format("8.8.8.{}", i)}));
            frames.push_back(RouteTest::packet({.to = fmt::format("100.200.{}.1", i)}));
        }
        return frames;
    }
};

class NestedPrefixes : public SameAddress<RouteTest>, public testing::WithParamInterface<bool> {
protected:
    void SetUp() override {
        SameAddress::SetUp();
        many(GetParam());
    }
};

TEST_P(NestedPrefixes, OfOneAddress) {
    inOneRun(nested(9, 23));
    EXPECT_EQ(expectEachAsLinux(mixed()), 2 * several);
}

TEST_P(NestedPrefixes, OfAllLengths) {
    inOneRun(nested(9, 32));
    EXPECT_EQ(expectEachAsLinux(mixed()), 2 * several);
}

TEST_P(NestedPrefixes, WithMetrics) {
    for (unsigned metric = 1; metric <= 140; metric++)
        inOneRun(nested(16, 16, fmt::format(" metric {}", metric)));
    EXPECT_EQ(expectEachAsLinux(mixed()), 2 * several);
}

TEST_P(NestedPrefixes, WithTypesOfService) {
    for (unsigned tos = 4; tos < 0x20; tos += 4) {
        inOneRun(nested(16, 16, fmt::format(" tos {:#x}", tos)));
        inOneRun(nested(20, 20, fmt::format(" tos {:#x}", tos)));
    }
    EXPECT_EQ(expectEachAsLinux(mixed()), 2 * several);
}

/// Ten thousand routes, of which those that begin with the same address are many.
TEST_P(NestedPrefixes, OfManyAddresses) {
    std::mt19937 random(7); // NOLINT(cert-msc51-cpp): the same each time
    std::vector<std::string> lines;
    std::vector<Frame> frames;
    for (unsigned i = 0; i < 1000; i++) {
        const auto first = 16 + static_cast<unsigned>(random() % 64),
                   second = static_cast<unsigned>(random() & 0xf0U);
        for (unsigned length = 12; length <= 32; length += 1 + static_cast<unsigned>(random() % 3))
            lines.push_back(fmt::format("route replace {}.{}.0.0/{} via 10.0.{}.2{}", first, second, length,
                                        1 + random() % 2, random() % 8 == 0 ? " metric 3" : ""));
        if (i % 4 == 0)
            frames.push_back(
                packet({.to = fmt::format("{}.{}.{}.{}", first, second, random() % 2 * (random() % 256),
                                          1 + random() % 255)}));
    }
    inOneRun(lines);
    EXPECT_GT(expectEachAsLinux(frames), frames.size() / 2);
}

/// Sources that Linux drops, as they are routed elsewhere.
TEST_P(NestedPrefixes, OfSources) {
    must("ip route replace default via 10.0.0.2");
    for (unsigned length = 9; length <= 23; length++)
        must(fmt::format("ip route add 100.0.0.0/{} via 10.0.0.2", length));
    must("ip route add 10.9.0.0/16 via 10.0.1.2");
    sysctl("net.ipv4.conf.p0.rp_filter", "1");
    std::vector<Frame> frames;
    for (unsigned i = 1; i <= several; i++) {
        frames.push_back(packet({.from = fmt::format("8.8.8.{}", i), .to = fmt::format("10.9.1.{}", i)}));
        frames.push_back(packet({.from = fmt::format("100.200.{}.1", i), .to = fmt::format("10.9.2.{}", i)}));
    }
    EXPECT_EQ(expectEachAsLinux(frames), several);
}

/// More routes in the way than are looked at.
TEST_P(NestedPrefixes, ThatAreTooMany) {
    for (unsigned metric = 1; metric <= 11; metric++)
        inOneRun(nested(9, 32, fmt::format(" metric {}", metric)));
    std::vector<Arrivals> linux;
    for (const auto& frame : mixed())
        linux.push_back(treat(frame).out);
    accelerate();
    for (unsigned i = 0; i < linux.size(); i++) {
        const bool beyond = i % 2 == 1;
        EXPECT_EQ(treat(mixed()[i]), (Treatment{beyond ? slowPath("long-search") : fastPath(), linux[i]}));
    }
    EXPECT_EQ(controller_->route("p0", "10.0.0.2", "100.200.0.1").value()["fast_path"]["reason"],
              "long-search");
    EXPECT_EQ(controller_->route("p0", "10.0.0.2", "100.0.0.1").value()["fast_path"]["port"], "p1");
}

/// Leaf after leaf that has no route for the address, each below the other.
TEST_P(NestedPrefixes, OfHostsBelowEachOther) {
    constexpr std::uint32_t address = 0x7effffff;
    const auto text = [](std::uint32_t number) {
        return fmt::format("{}.{}.{}.{}", number >> 24U, number >> 16U & 255U, number >> 8U & 255U,
                           number & 255U);
    };
    for (unsigned bits = 1; bits < 32; bits++)
        if (const auto key = address >> bits << bits; key != 0)
            must(fmt::format("ip route replace {}/32 via 10.0.2.2", text(key)));
    std::vector<Frame> frames;
    for (unsigned i = 0; i < several; i++) {
        frames.push_back(packet({.to = fmt::format("8.8.8.{}", i)}));
        frames.push_back(packet({.from = fmt::format("10.0.0.{}", 10 + i), .to = text(address)}));
    }
    EXPECT_EQ(expectEachAsLinux(frames), 2 * several);
}

INSTANTIATE_TEST_SUITE_P(FewRoutes, NestedPrefixes, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(ManyRoutes, NestedPrefixes, testing::Values(true));

using BehindABridge = SameAddress<FromBridge>;

TEST_F(BehindABridge, NestedPrefixesOfOneAddress) {
    inOneRun(nested(9, 23));
    EXPECT_EQ(expectEachAsLinux(mixed()), 2 * several);
}

} // namespace
} // namespace tna::test
