// SPDX-License-Identifier: Apache-2.0
// VLANs that come and go while frames flow without a pause, and the controller follows as it can: whatever
// the moment, no frame comes out in a VLAN in which Linux would never have sent it, or without its tag.
#include "bridge_fixture.hpp"

#include <atomic>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <thread>

namespace tna::test {
namespace {

using Lines = std::vector<std::string>;

/// Runs a program of the tool in the background, and takes what it leaves behind.
class Batch {
public:
    Batch(const Lines& lines, unsigned times) {
        {
            std::ofstream file(name_);
            for (unsigned i = 0; i < times; i++)
                for (const auto& line : lines)
                    file << line << "\n";
        }
        thread_ = std::jthread([this] {
            result_ = command({"bridge", "-batch", name_});
            done_ = true;
        });
    }
    ~Batch() {
        thread_.join();
        ::unlink(name_.c_str());
    }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    [[nodiscard]] bool done() const { return done_; }
    [[nodiscard]] std::string complaints() const { return result_.exitCode == 0 ? "" : result_.output; }

private:
    std::string name_ = fmt::format("/tmp/tna-vlans-{}", ::getpid());
    CommandResult result_;
    std::atomic<bool> done_ = false;
    std::jthread thread_; ///< in the namespace of whoever made this
};

class VlanTraffic : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (!IsSkipped() &&
            command({"sh", "-c", "ip link set br0 type bridge vlan_filtering 1"}).exitCode != 0)
            GTEST_SKIP() << "this kernel's bridges do not filter VLANs";
    }
    static FrameBuilder toTwo() { return FrameBuilder().ethernet(station(2), station(1)); }
    static void bridge(const Lines& lines) {
        for (const auto& line : lines)
            must("bridge " + line);
    }
    /// Sends frames into port 0 while VLANs change, and returns all that came out, by port, each frame once.
    std::map<unsigned, std::set<std::vector<std::uint8_t>>> during(const Lines& changes, unsigned times,
                                                                   const std::vector<Frame>& frames) {
        std::map<unsigned, std::set<std::vector<std::uint8_t>>> found;
        std::atomic<bool> stop = false;
        std::jthread follower([&] {
            while (!stop) {
                ASSERT_TRUE(controller_->onNetlink());
                ::poll(nullptr, 0, 1);
            }
        });
        const auto collect = [&] {
            for (const auto& [number, port] : farPorts_)
                for (auto& frame : port->drain())
                    found[number].insert(std::move(frame.bytes));
        };
        (void)arrivals();
        const Batch batch(changes, times);
        do {
            for (int i = 0; i < 8; i++)
                for (const auto& frame : frames)
                    far(0).send(frame);
            collect();
        } while (!batch.done());
        settle();
        collect();
        stop = true;
        EXPECT_EQ(batch.complaints(), "");
        return found;
    }
};

TEST_F(VlanTraffic, FramesKeepToTheirVlansWhileVlansComeAndGo) {
    bridge({"vlan add dev p0 vid 10", "vlan add dev p0 vid 20", "vlan add dev p1 vid 10",
            "vlan add dev p2 vid 20", "fdb add " + text(station(1)) + " dev p0 master static vlan 10",
            "fdb add " + text(station(1)) + " dev p0 master static vlan 20",
            "fdb add " + text(station(2)) + " dev p1 master static vlan 10",
            "fdb add " + text(station(2)) + " dev p2 master static vlan 20"});
    ASSERT_NO_FATAL_FAILURE(accelerate());
    if (IsSkipped())
        return;
    const auto inTen = toTwo().vlan(0x8100, 10).udp(30);
    const auto inTwenty = toTwo().vlan(0x8100, 20).udp(40);
    const auto untagged = toTwo().udp(30);
    const auto out = during({"vlan add dev p1 vid 10 untagged", "vlan del dev p0 vid 20",
                             "vlan del dev p1 vid 10", "vlan add dev p0 vid 20", "vlan add dev p1 vid 10"},
                            60, {inTen, inTwenty});
    EXPECT_EQ(out.at(1), (std::set{inTen.bytes, untagged.bytes})) << "p1 has VLAN 10 only, tagged or not";
    EXPECT_EQ(out.at(2), (std::set{inTwenty.bytes})) << "p2 has VLAN 20 only, always tagged";
    EXPECT_GT(counted(0).fast, 0U);
    EXPECT_EQ(treat(inTen), (Treatment{fastPath(), {{1, {inTen}}}}));
    EXPECT_EQ(treat(inTwenty), (Treatment{fastPath(), {{2, {inTwenty}}}}));
}

/// Port 0's untagged frames are of VLAN 20 only while port 2 has no part in it.
TEST_F(VlanTraffic, PortsThatNeverHadAVlanAtTheSameTimeDoNotMeetInIt) {
    bridge({"vlan del dev p0 vid 1", "vlan del dev p1 vid 1", "vlan del dev p2 vid 1",
            "vlan add dev p0 vid 10 pvid untagged", "vlan add dev p1 vid 10", "vlan add dev p0 vid 20",
            "vlan add dev p2 vid 20", "fdb add " + text(station(1)) + " dev p0 master static vlan 20",
            "fdb add " + text(station(2)) + " dev p2 master static vlan 20",
            "fdb add " + text(station(2)) + " dev p1 master static vlan 10", "vlan del dev p0 vid 20"});
    ASSERT_NO_FATAL_FAILURE(accelerate());
    if (IsSkipped())
        return;
    const auto out =
        during({"vlan del dev p2 vid 20", "vlan add dev p0 vid 20 pvid untagged",
                "vlan add dev p0 vid 10 pvid untagged", "vlan del dev p0 vid 20", "vlan add dev p2 vid 20"},
               60, {oneToTwo()});
    EXPECT_EQ(out.at(1), (std::set{toTwo().vlan(0x8100, 10).udp().bytes}));
    EXPECT_FALSE(out.contains(2)) << "VLAN 20 was never theirs at the same time";
    EXPECT_GT(counted(0).fast, 0U);
}

} // namespace
} // namespace tna::test
