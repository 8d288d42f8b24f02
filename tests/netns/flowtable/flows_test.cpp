// SPDX-License-Identifier: Apache-2.0
// Flows that rules have put into a flowtable: what comes out is what plain Linux has made of the same frames,
// byte by byte.
#include "flowtable_fixture.hpp"

#include <chrono>

namespace tna::test {
namespace {

template <typename Way>
class Flowtable : public Way {};
using Flows =
    ::testing::Types<FlowtableOf<RouteTest>, FlowtableOf<Route6Test>, FlowtableOf<RouteTest, anotherSource>,
                     FlowtableOf<Route6Test, anotherSource>, FlowtableOf<RouteTest, anotherDestination>,
                     FlowtableOf<Route6Test, anotherDestination>,
                     FlowtableOf<RouteTest, anotherSource | anotherDestination>,
                     FlowtableOf<Route6Test, anotherSource | anotherDestination>>;
TYPED_TEST_SUITE(Flowtable, Flows);

TYPED_TEST(Flowtable, FlowsAreAsLinuxMakesThem) {
    this->beforehand();
    this->accelerate();
    this->expectAllAsAsked();
}

/// Neither the checksum nor the length in a header is looked at, and nothing is cut off.
TYPED_TEST(Flowtable, FramesLeaveAsTheyAreOtherwise) {
    for (const unsigned in : {0U, 1U}) {
        auto longer = this->sent(in), damaged = longer;
        longer.bytes.resize(longer.bytes.size() + 7, 0x77);
        damaged.bytes.at(TestFixture::six ? 60 : 24) ^= 1U;
        damaged.bytes.at(TestFixture::six ? 18 : 17) ^= 1U;
        this->ask(longer, in);
        this->ask(damaged, in);
    }
    this->accelerate();
    this->expectAllAsAsked();
}

TYPED_TEST(Flowtable, OtherFlowsAreLinuxs) {
    this->accelerate();
    for (const auto& [from, to] : {std::pair{4000, 5009}, std::pair{4007, 80}}) {
        const auto frame =
            withPorts(this->sent(0), static_cast<std::uint16_t>(from), static_cast<std::uint16_t>(to));
        EXPECT_EQ(this->send(frame), slowPath("flowtable-unknown"));
    }
    EXPECT_EQ(this->send(this->sent(0)), fastPath());
}

TYPED_TEST(Flowtable, FlowThatIsForgottenIsLinuxs) {
    this->accelerate();
    EXPECT_EQ(this->send(this->sent(0)), fastPath());
    must("conntrack -F");
    EXPECT_EQ(this->send(this->sent(0)), slowPath("flowtable-unknown"));
}

/// Linux takes out of the table what has not been used for a while.
class FlowtableTime : public FlowtableOf<RouteTest> {};

TEST_F(FlowtableTime, IsSetAnewByFastPackets) {
    accelerate();
    sysctl("net.netfilter.nf_flowtable_udp_timeout", "5");
    ASSERT_FALSE(eventually([&] { return send(sent(0)) != fastPath(); }, std::chrono::seconds(15)));
    EXPECT_TRUE(
        eventually([] { return command({"conntrack", "-L"}).output.find("OFFLOAD") == std::string::npos; },
                   std::chrono::seconds(60)));
    EXPECT_EQ(send(sent(0)), slowPath("flowtable-unknown"));
}

} // namespace
} // namespace tna::test
