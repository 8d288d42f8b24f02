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
        config_.kernel.refresh = config::Kernel{}.refresh;
        config_.kernel.selfCheck = 0; // which would see an old station as well, and is no disagreement then
        if (!IsSkipped())
            accelerate();
    }
    static bool known(unsigned number) {
        return command({"bridge", "fdb", "show", "br", "br0"}).output.find(text(station(number))) !=
               std::string::npos;
    }
    /// Station 1 sends for some ageing times to station 2, which is static; station 3 is silent. True if
    /// station 1 was never forgotten. Nothing if the machine was too busy to send often enough for saying so.
    std::optional<bool> sendWhileAgeing(milliseconds ageing) {
        must("bridge fdb replace " + text(station(2)) + " dev p1 master static");
        treat(oneToTwo());
        treat(FrameBuilder().ethernet(station(2), station(3)).udp(), 2);
        const auto start = steady_clock::now();
        auto last = start;
        auto longestGap = milliseconds(0);
        std::optional<steady_clock::time_point> forgotten;
        const auto before = counted(0);
        while (steady_clock::now() - start < ageing * 5 / 2) {
            far(0).send(oneToTwo());
            const auto now = steady_clock::now();
            longestGap = std::max(longestGap, std::chrono::duration_cast<milliseconds>(now - last));
            last = now;
            if (!forgotten && !known(3))
                forgotten = now;
            ::poll(nullptr, 0, 5);
        }
        settle();
        const auto after = counted(0);
        EXPECT_GT(after.fast, before.fast);
        EXPECT_TRUE(forgotten) << "a silent station did not age out";
        EXPECT_TRUE(!forgotten || *forgotten - start >= ageing * 3 / 4) << "it aged out too early";
        const auto learnt = [](const Path& path) {
            const auto it = path.slow.find("source-unknown");
            return it == path.slow.end() ? 0 : it->second;
        };
        return longestGap < ageing / 4 ? std::optional(learnt(after) == learnt(before)) : std::nullopt;
    }
    void expectKept() {
        std::optional<bool> kept;
        for (int attempt = 0; attempt < 10 && !kept; attempt++)
            kept = sendWhileAgeing(std::chrono::seconds(2));
        if (!kept)
            GTEST_SKIP() << "the machine is too busy to send a frame every half second";
        EXPECT_TRUE(*kept) << "forgotten while in use";
    }
};

TEST_F(Ageing, StationUsedByTheFastPathIsRefreshedByLinuxNowAndThen) {
    must("ip link set br0 type bridge ageing_time 200");
    pump();
    must("bridge fdb replace " + text(station(2)) + " dev p1 master static");
    ASSERT_TRUE(eventually(
        [&] {
            far(0).send(oneToTwo());
            const auto path = counted(0);
            const auto refreshed = path.slow.find("refresh");
            return refreshed != path.slow.end() && refreshed->second >= 3 && path.fast > refreshed->second;
        },
        std::chrono::seconds(30)));
    EXPECT_TRUE(known(1));
}

TEST_F(Ageing, StationInUseNeverAgesOutAndOneThatIsSilentDoesOnTime) {
    must("ip link set br0 type bridge ageing_time 200");
    pump();
    expectKept();
}

/// The time by which a cached flow lets Linux see a frame follows the setting.
TEST_F(Ageing, AgeingTimeThatIsShortenedWhileStationsAreInUse) {
    learn();
    ASSERT_EQ(treat(oneToTwo()).path, fastPath());
    must("ip link set br0 type bridge ageing_time 200");
    pump();
    expectKept();
}

/// Linux goes by the new time at once, and forgets whoever it has not seen for so long.
TEST_F(Ageing, TimeThatIsMadeMuchShorterThanSoFar) {
    must("ip link set br0 type bridge ageing_time 30000");
    const auto never = std::chrono::milliseconds(400);
    for (int attempt = 0; attempt < 10; attempt++) {
        pump();
        treat(oneToTwo());
        treat(twoToOne(), 1);
        (void)arrivals();
        const auto start = steady_clock::now();
        auto last = start;
        auto longestGap = milliseconds(0);
        bool shortened = false;
        while (steady_clock::now() - start < std::chrono::seconds(4)) {
            far(0).send(oneToTwo());
            far(1).send(twoToOne());
            const auto now = steady_clock::now();
            longestGap = std::max(longestGap, std::chrono::duration_cast<milliseconds>(now - last));
            last = now;
            if (!shortened && now - start > std::chrono::seconds(2)) {
                must("ip link set br0 type bridge ageing_time 100");
                shortened = true;
            }
            ::poll(nullptr, 0, 5);
        }
        settle();
        const bool flooded = !far(2).drain().empty();
        if (longestGap < never) {
            EXPECT_FALSE(flooded) << "a station in use was forgotten";
            EXPECT_GT(counted(0).fast, 0U);
            return;
        }
        must("ip link set br0 type bridge ageing_time 30000");
    }
    GTEST_SKIP() << "the machine is too busy to send often enough";
}

TEST_F(Ageing, BridgeThatForgetsAtOnceIsLeftToLinux) {
    must("ip link set br0 type bridge ageing_time 0");
    ASSERT_TRUE(reaches("p0", "linux"));
    EXPECT_EQ(treat(oneToTwo()).out, (Arrivals{{1, {oneToTwo()}}, {2, {oneToTwo()}}}));
}

} // namespace
} // namespace tna::test
