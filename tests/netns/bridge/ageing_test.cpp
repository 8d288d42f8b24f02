// SPDX-License-Identifier: Apache-2.0
// Stations age as with plain Linux, though Linux sees but one frame of the fast path now and then.
#include "bridge_fixture.hpp"

namespace tna::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class Ageing : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (!IsSkipped())
            accelerate();
    }
    static bool known(unsigned number) {
        return command({"bridge", "fdb", "show", "br", "br0"}).output.find(text(station(number))) !=
               std::string::npos;
    }
    /// Sends from station 1 until station 2, which is silent, is forgotten. True if station 1 was known all
    /// the time. Nothing if the machine was too busy to send often enough, so that nothing can be said.
    std::optional<bool> sendUntilTwoIsForgotten(milliseconds ageing) {
        treat(oneToTwo());
        treat(twoToOne(), 1);
        auto last = steady_clock::now();
        auto longestGap = milliseconds(0);
        bool knownAllTheTime = true;
        const auto start = last;
        while (known(2) && steady_clock::now() - start < 10 * ageing) {
            far(0).send(oneToTwo());
            const auto now = steady_clock::now();
            longestGap = std::max(longestGap, std::chrono::duration_cast<milliseconds>(now - last));
            last = now;
            knownAllTheTime = knownAllTheTime && known(1);
            ::poll(nullptr, 0, 5);
        }
        EXPECT_FALSE(known(2)) << "a silent station did not age out";
        EXPECT_GE(steady_clock::now() - start, ageing * 3 / 4) << "it aged out too early";
        return longestGap < ageing / 4 ? std::optional(knownAllTheTime) : std::nullopt;
    }
};

TEST_F(Ageing, StationUsedByTheFastPathIsRefreshedByLinuxNowAndThen) {
    must("ip link set br0 type bridge ageing_time 200");
    pump();
    learn();
    std::uint64_t refreshed = 0;
    ASSERT_TRUE(eventually(
        [&] {
            far(0).send(oneToTwo());
            refreshed = counted(0).slow["refresh"];
            return refreshed >= 3 && counted(0).fast > refreshed;
        },
        std::chrono::seconds(30)));
    EXPECT_TRUE(known(1));
}

TEST_F(Ageing, StationInUseNeverAgesOutAndOneThatIsSilentDoesOnTime) {
    must("ip link set br0 type bridge ageing_time 200");
    pump();
    std::optional<bool> kept;
    for (int attempt = 0; attempt < 10 && !kept; attempt++)
        kept = sendUntilTwoIsForgotten(std::chrono::seconds(2));
    if (!kept)
        GTEST_SKIP() << "the machine is too busy to send a frame every half second";
    EXPECT_TRUE(*kept) << "aged out while in use";
}

/// The time by which a cached flow lets Linux see a frame follows the setting.
TEST_F(Ageing, AgeingTimeThatIsShortenedWhileStationsAreInUse) {
    learn();
    ASSERT_EQ(treat(oneToTwo()).path, fastPath());
    must("ip link set br0 type bridge ageing_time 200");
    pump();
    std::optional<bool> kept;
    for (int attempt = 0; attempt < 10 && !kept; attempt++)
        kept = sendUntilTwoIsForgotten(std::chrono::seconds(2));
    if (!kept)
        GTEST_SKIP() << "the machine is too busy to send a frame every half second";
    EXPECT_TRUE(*kept) << "aged out while in use";
}

TEST_F(Ageing, BridgeThatForgetsAtOnceIsLeftToLinux) {
    must("ip link set br0 type bridge ageing_time 0");
    ASSERT_TRUE(reaches("p0", "linux"));
    EXPECT_EQ(treat(oneToTwo()).out, (Arrivals{{1, {oneToTwo()}}, {2, {oneToTwo()}}}));
}

} // namespace
} // namespace tna::test
