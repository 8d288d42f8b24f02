// SPDX-License-Identifier: Apache-2.0
#include "bridge_fixture.hpp"

namespace tna::test {
namespace {

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
};

TEST_F(Ageing, StationUsedByTheFastPathIsRefreshedByLinuxNowAndThen) {
    must("ip link set br0 type bridge ageing_time 200");
    learn();
    std::uint64_t refreshed = 0;
    ASSERT_TRUE(eventually([&] {
        far(0).send(oneToTwo());
        refreshed = counted(0).slow["refresh"];
        return refreshed >= 3 && counted(0).fast > refreshed;
    }));
    EXPECT_TRUE(known(1));
}

TEST_F(Ageing, StationInUseNeverAgesOutAndOneThatIsSilentDoes) {
    must("ip link set br0 type bridge ageing_time 100");
    learn();
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(eventually(
        [&] {
            far(0).send(oneToTwo());
            EXPECT_TRUE(known(1)) << "aged out while in use";
            return !known(2) && std::chrono::steady_clock::now() - start > std::chrono::seconds(1);
        },
        std::chrono::seconds(20)));
}

} // namespace
} // namespace tna::test
