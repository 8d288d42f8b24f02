// SPDX-License-Identifier: Apache-2.0
// What the egress port must be for a frame to leave through it, and what a local sender may leave unfinished.
#include "bridge_fixture.hpp"

#include <atomic>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <thread>

namespace tna::test {
namespace {

class Egress : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (!IsSkipped())
            learn();
    }
    void start() {
        ASSERT_NO_FATAL_FAILURE(accelerate());
        if (!IsSkipped()) {
            ASSERT_EQ(treat(oneToTwo()), usual());
        }
    }
    static Treatment usual() { return {fastPath(), {{1, {oneToTwo()}}}}; }
    static Frame sized(std::size_t bytes, bool tagged = false) {
        auto builder = FrameBuilder().ethernet(station(2), station(1));
        const std::size_t headers = 14 + 20 + 8 + (tagged ? 4 : 0);
        return tagged ? builder.vlan(0x8100, 7).udp(bytes - headers) : builder.udp(bytes - headers);
    }
};

/// Linux's limit is the MTU, the Ethernet header and one VLAN tag (is_skb_forwardable).
TEST_F(Egress, LargestFrameThatTheEgressPortTakes) {
    constexpr std::size_t mtu = 1000;
    constexpr std::size_t limit = mtu + 14 + 4;
    must("ip link set p1 mtu " + std::to_string(mtu));
    std::map<std::pair<std::size_t, bool>, Arrivals> linux;
    for (const bool tagged : {false, true})
        for (std::size_t size = limit - 2; size <= limit + 6; size++)
            linux[{size, tagged}] = treat(sized(size, tagged)).out;
    EXPECT_THAT((linux[{limit, false}]), ::testing::SizeIs(1));
    EXPECT_THAT((linux[{limit + 1, false}]), ::testing::IsEmpty());

    ASSERT_NO_FATAL_FAILURE(start());
    for (const auto& [frame, out] : linux) {
        const auto& [size, tagged] = frame;
        EXPECT_EQ(treat(sized(size, tagged)),
                  (Treatment{size <= limit ? fastPath() : slowPath("egress-mtu"), out}))
            << size << (tagged ? " tagged" : " untagged");
    }
}

TEST_F(Egress, MtuIsThatOfTheMoment) {
    ASSERT_NO_FATAL_FAILURE(start());
    const auto large = sized(1018);
    EXPECT_EQ(treat(large).path, fastPath());
    must("ip link set p1 mtu 999");
    EXPECT_EQ(treat(large), (Treatment{slowPath("egress-mtu"), {}}));
    must("ip link set p1 mtu 1000");
    EXPECT_EQ(treat(large), (Treatment{fastPath(), {{1, {large}}}}));
}

TEST_F(Egress, PortThatIsDownGetsNothing) {
    ASSERT_NO_FATAL_FAILURE(start());
    must("ip link set p1 down");
    // Its stations are forgotten with it.
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("unknown-unicast"), {{2, {oneToTwo()}}}}));
}

/// A static entry outlives its port's being down, and a backup port learnt ones: the port's STP state tells.
TEST_F(Egress, PortThatIsDownButStillKnowsTheStation) {
    must("bridge fdb replace " + text(station(2)) + " dev p1 master static");
    must("ip link set p1 down");
    const auto linux = treat(oneToTwo()).out;
    must("ip link set p1 up");
    ASSERT_TRUE(eventually([&] { return treat(oneToTwo()).out == usual().out; }));
    ASSERT_NO_FATAL_FAILURE(start());
    must("ip link set p1 down");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("egress-stp-state"), linux}));
    must("ip link set p1 up");
    EXPECT_TRUE(eventually([&] { return treat(oneToTwo()) == usual(); }));
}

TEST_F(Egress, BackupPortTakesOverWhenTheCarrierIsLost) {
    must("bridge link set dev p1 backup_port p2");
    ASSERT_NO_FATAL_FAILURE(start());
    inFar("ip link set far1 down");
    ASSERT_TRUE(eventually([] {
        return command({"cat", "/sys/class/net/p1/brport/state"}).output == "0\n" ||
               command({"bridge", "link", "show", "dev", "p1"}).output.find("state disabled") !=
                   std::string::npos;
    }));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("egress-stp-state"), {{2, {oneToTwo()}}}}));
}

/// Brings an interface up or down by one system call, without a program that takes its time to end.
class Switch {
public:
    Switch() : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {}
    void set(const char* interface, bool up) const {
        ifreq request{};
        std::snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
        request.ifr_flags = static_cast<short>(up ? IFF_UP : 0);
        EXPECT_EQ(::ioctl(fd_.get(), SIOCSIFFLAGS, &request), 0) << interface;
    }

private:
    UniqueFd fd_;
};

/// That the carrier is lost is known at once; the bridge is told a moment later, when the kernel's worker
/// gets the lock of all network configuration. Somebody who keeps that lock busy makes the moment long enough
/// to be met; however it is met, nothing may go the fast way.
TEST_F(Egress, CarrierThatIsLostCountsBeforeTheBridgeKnows) {
    ASSERT_NO_FATAL_FAILURE(start());
    std::atomic<bool> done = false;
    const Namespace elsewhere;
    std::thread busy([&] {
        const auto inside = elsewhere.enter();
        while (!done)
            command({"sh", "-c", "ip link add d0 type dummy; ip link del d0"});
    });
    const auto inside = farSide_->enter();
    const Switch far;
    const bool met = eventually(
        [&] {
            far.set("far1", false);
            const auto path = treat(oneToTwo()).path;
            EXPECT_EQ(path.fast, 0U);
            far.set("far1", true);
            const auto home = dut_->enter();
            // Learnt anew, once the port forwards again.
            EXPECT_TRUE(eventually([&] {
                treat(twoToOne(), 1);
                return treat(oneToTwo()) == usual();
            }));
            return path == slowPath("egress-down");
        },
        std::chrono::seconds(40));
    done = true;
    busy.join();
    EXPECT_TRUE(met);
}

TEST_F(Egress, PortWhoseFarEndTakesNoRedirects) {
    ASSERT_NO_FATAL_FAILURE(start());
    inFar("ethtool -K far1 gro off");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("egress-redirect"), usual().out}));
    inFar("ethtool -K far1 gro on");
    EXPECT_EQ(treat(oneToTwo()), usual());
}

TEST_F(Egress, UnfinishedChecksumIsFinishedByLinux) {
    config_.kernel.selfCheck = 0; // which asks for a closer look at every frame
    ASSERT_NO_FATAL_FAILURE(start());
    constexpr std::uint16_t udp = 14 + 20;
    auto unfinished = oneToTwo();
    // What a sender with checksum offload leaves behind: the sum of the pseudo header.
    const auto length = static_cast<std::uint16_t>(unfinished.bytes.size() - udp);
    std::uint32_t pseudo = 17U + length;
    for (std::size_t i = 14 + 12; i < udp; i += 2)
        pseudo += static_cast<std::uint32_t>(unfinished.bytes[i]) << 8U | unfinished.bytes[i + 1];
    while (pseudo >> 16U != 0)
        pseudo = (pseudo & 0xffffU) + (pseudo >> 16U);
    unfinished.bytes[udp + 6] = static_cast<std::uint8_t>(pseudo >> 8U);
    unfinished.bytes[udp + 7] = static_cast<std::uint8_t>(pseudo);
    ASSERT_NE(unfinished, oneToTwo());

    const auto before = counted(0);
    far(0).sendUnfinished(unfinished, udp, 6);
    settle();
    EXPECT_EQ(counted(0).slow["unfinished-checksum"], 1U);
    EXPECT_EQ(counted(0).fast, before.fast);
    EXPECT_THAT(far(1).drain(), ::testing::SizeIs(1)) << "Linux hands the offload on to the far end";
}

/// A bridge elsewhere has taken the tag out of the frame and hands it on beside it.
TEST_F(Egress, HiddenTagIsPutBackByLinux) {
    const auto tagged = sized(100, true);
    inFar("ip link add other type bridge mcast_snooping 0");
    inFar("ip link add in0 type veth peer name in1");
    for (const std::string name : {"other", "in0", "in1"})
        inFar("ip link set " + name + " up");
    inFar("ip link set in1 master other");
    inFar("ip link set far0 master other");
    {
        const auto inside = farSide_->enter();
        farPorts_[9].emplace("in0");
        for (const char* family : {"iptables", "ip6tables"})
            if (const std::string key = std::string("net.bridge.bridge-nf-call-") + family;
                command({"sysctl", "-n", key}).exitCode == 0)
                sysctl(key, "0");
    }
    opens(9, {1, 2});
    const Arrivals usual{{1, {tagged}}};
    ASSERT_EQ(treat(tagged, 9).out, usual);
    ASSERT_NO_FATAL_FAILURE(start());
    const auto before = counted(0);
    EXPECT_EQ(treat(tagged, 9).out, usual);
    EXPECT_EQ(counted(0).fast, before.fast);
    EXPECT_EQ(counted(0).slow["hidden-vlan-tag"], 1U);
}

} // namespace
} // namespace tna::test
