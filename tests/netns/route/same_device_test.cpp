// SPDX-License-Identifier: Apache-2.0
// Packets that leave by the device that they came by: Linux tells their senders of a better way, unless it is
// told not to.
#include "bridged_route_fixture.hpp"

namespace tna::test {
namespace {

const std::string redirects = "sysctl -qw net.ipv4.conf.";

void noRedirects(const std::string& device) {
    for (const auto& name : {std::string("all"), device})
        must(redirects + name + ".send_redirects=0");
}

void knowsNeighbour(const std::string& address, unsigned number, const std::string& device) {
    must("ip neigh replace " + address + " lladdr " + text(station(number)) + " dev " + device +
         " nud permanent");
}

class SameDevice : public RouteTest {
protected:
    void SetUp() override {
        RouteTest::SetUp();
        if (IsSkipped())
            return;
        noRedirects("p0");
        knowsNeighbour("10.0.0.3", 7, "p0");
    }
    /// Each sender has its own, for Linux tells it less and less often.
    static Condition setting(const char* name, const std::string& set, const std::string& reason,
                             const std::string& unset) {
        static unsigned senders = 10;
        const auto sender = "10.0.0." + std::to_string(senders++);
        return about(
            {name,
             {"ip neigh replace " + sender + " lladdr " + text(station(1)) + " dev p0 nud permanent"},
             {set},
             reason,
             {unset}},
            {.from = sender, .to = "10.0.0.3"});
    }
    static Condition redirect(const char* name, const std::string& device, const std::string& reason) {
        return setting(name, redirects + device + ".send_redirects=1", reason,
                       redirects + device + ".send_redirects=0");
    }
    static Arrivals backOut(const Frame& frame) {
        return {{0, {oneHopFurther(frame, station(7), portMac(0))}}};
    }
};

TEST_F(SameDevice, IsFastWhileNobodyIsToldOfABetterWay) {
    expectAllTo(
        {redirect("RedirectsEverywhere", "all", "same-device"),
         redirect("RedirectsOfTheDevice", "p0", "same-device"),
         redirect("RedirectsOfAnotherDevice", "p1", ""),
         setting("StrictReversePath", redirects + "p0.rp_filter=1", "", redirects + "p0.rp_filter=0"),
         setting("LooseReversePath", redirects + "p0.rp_filter=2", "", redirects + "p0.rp_filter=0"),
         setting("NoSharedMedia", redirects + "all.shared_media=0", "", redirects + "all.shared_media=1")},
        backOut);
}

TEST_F(SameDevice, SenderIsToldAsByLinux) {
    const auto frame = packet({.to = "10.0.0.3"});
    accelerate();
    EXPECT_EQ(treat(frame), (Treatment{fastPath(), backOut(frame)}));
    must(redirects + "p0.send_redirects=1");
    const auto told = treat(frame);
    EXPECT_EQ(told.path, slowPath("same-device"));
    EXPECT_EQ(told.out.at(0).size(), 2U) << "the packet, and what its sender is told";
    must(redirects + "p0.send_redirects=0");
    EXPECT_EQ(treat(frame), (Treatment{fastPath(), backOut(frame)}));
}

TEST_F(SameDevice, IsFastByAGateway) {
    must("ip route add 10.8.0.0/16 via 10.0.0.3");
    const auto one = packet({.to = "10.8.0.1"}), another = packet({.to = "10.8.7.7"});
    accelerate();
    for (const auto& frame : {one, another, one})
        EXPECT_EQ(treat(frame), (Treatment{fastPath(), backOut(frame)}));
    must(redirects + "all.send_redirects=1");
    EXPECT_EQ(treat(packet({.to = "10.8.5.5"})).path, slowPath("same-device"));
}

/// By the bridge that they came by: to a station behind another port of it, or behind the same one.
class SameBridge : public FromBridge {
protected:
    void SetUp() override {
        FromBridge::SetUp();
        if (IsSkipped())
            return;
        knowsNeighbour("10.0.0.9", 3, "br0");
        noRedirects("br0");
    }
    void expectBackOut(unsigned port) {
        const auto frame = packet({.to = "10.0.0.9"});
        const Arrivals out{{port, {oneHopFurther(frame, station(3), portMac(0))}}};
        learnt(3, "p" + std::to_string(port));
        ASSERT_EQ(treat(frame).out, out);
        accelerate();
        for (unsigned i = 0; i < 2; i++)
            EXPECT_EQ(treat(frame), (Treatment{fastPath(), out}));
        must(redirects + "br0.send_redirects=1");
        const auto told = treat(frame);
        EXPECT_EQ(told.path, slowPath("same-device"));
        EXPECT_EQ(told.out.at(0).size(), port == 0 ? 2U : 1U);
        must(redirects + "br0.send_redirects=0");
        EXPECT_EQ(treat(frame), (Treatment{fastPath(), out}));
    }
};

TEST_F(SameBridge, IsFastToAnotherPort) {
    expectBackOut(2);
}

TEST_F(SameBridge, IsFastToTheSamePort) {
    expectBackOut(0);
}

} // namespace
} // namespace tna::test
