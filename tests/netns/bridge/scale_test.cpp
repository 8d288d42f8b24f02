// SPDX-License-Identifier: Apache-2.0
// A bridge with a thousand ports.
#include "base/file.hpp"
#include "bridge_fixture.hpp"

#include <filesystem>

namespace tna::test {
namespace {

class Scale : public BridgeTest {
protected:
    /// Many commands at once, for `ip -batch`.
    static void batch(const std::string& lines) {
        char path[] = "/tmp/tna-batch-XXXXXX";
        const UniqueFd file{::mkstemp(path)};
        ASSERT_TRUE(writeFile(path, lines));
        const auto result = command({"ip", "-batch", path});
        std::filesystem::remove(path);
        ASSERT_EQ(result.exitCode, 0) << result.output;
    }
};

TEST_F(Scale, ThousandPorts) {
    constexpr unsigned more = 1000;
    std::string links;
    for (unsigned i = 0; i < more; i++) {
        const auto n = std::to_string(i);
        links += "link add q" + n + " type veth peer name fq" + n + " netns " + farSide_->name() + "\n";
        links += "link set q" + n + " master br0 up\n";
    }
    batch(links);
    {
        const auto inside = farSide_->enter();
        for (const unsigned i : {0U, more - 1}) {
            const auto name = "fq" + std::to_string(i);
            must("ip link set " + name + " up");
            must("ethtool -K " + name + " gro on");
            farPorts_[100 + i].emplace(name);
        }
    }
    ASSERT_NO_FATAL_FAILURE(accelerate(more + 3));
    for (unsigned i = 0; i < more; i++)
        ASSERT_TRUE(reaches("q" + std::to_string(i), "accelerated")) << i;

    const auto there = FrameBuilder().ethernet(station(9), station(8)).udp();
    const auto back = FrameBuilder().ethernet(station(8), station(9)).udp();
    const unsigned first = 100, last = 100 + more - 1;
    ASSERT_TRUE(eventually([&] { return treat(there, first).out.contains(last); }));
    ASSERT_EQ(treat(back, last).out, (Arrivals{{first, {back}}}));
    const auto fast = [&] { return (*controller_->port("q0"))["port"]["fast_packets"].get<std::uint64_t>(); };
    const auto before = fast();
    EXPECT_EQ(treat(there, first).out, (Arrivals{{last, {there}}}));
    EXPECT_EQ(fast(), before + 1);
}

/// One more than there is room for: that one is left to Linux, and says so.
TEST_F(Scale, MorePortsThanThereIsRoomFor) {
    config::Config config;
    config.ports.excludeKinds.clear();
    config.ports.tcxKinds.clear();
    config.kernel.refresh = config_.kernel.refresh;
    config.limits.maxPorts = 2;
    auto controller = daemon::Controller::start(config);
    TNA_EXPECT_STARTED(controller);
    controller_ = std::move(*controller);
    EXPECT_EQ((*controller_->port("p2"))["port"]["state"], "failed");
    learn();
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}}));
    const auto toThird = FrameBuilder().ethernet(station(3), station(1)).udp();
    const auto fromThird = FrameBuilder().ethernet(station(1), station(3)).udp();
    EXPECT_EQ(treat(fromThird, 2).out, (Arrivals{{0, {fromThird}}}));
    EXPECT_EQ(treat(toThird), (Treatment{slowPath("egress-unmanaged"), {{2, {toThird}}}}));
}

} // namespace
} // namespace tna::test
