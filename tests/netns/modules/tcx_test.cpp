// SPDX-License-Identifier: Apache-2.0
// Custom modules at ports whose frames are seen as socket buffers, and those that are not for such ports.
#include "modules_fixture.hpp"
#include "netns/tcx/tcx_fixture.hpp"
#include "route_fixture.hpp"
#include "support/traffic.hpp"

#include <arpa/inet.h>
#include <filesystem>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <set>
#include <sys/mman.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

class TcxModules : public TcxTest, public ::testing::WithParamInterface<const char*> {
protected:
    void SetUp() override {
        char pattern[] = "/tmp/tna-modules-XXXXXX";
        directory_ = ::mkdtemp(pattern);
        config_.modules.directory = directory_;
        TcxTest::SetUp();
        if (!IsSkipped())
            start();
    }
    void TearDown() override {
        TcxTest::TearDown();
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }
    /// For what leaves by p1 and p2, nobody asks at egress.
    void insertObedient() {
        modules_.insert("obedient", moduleObject(GetParam()), {.hooks = {"ingress", "bridge"}});
        const auto map = modules_.map("obedient", "other_port");
        const __u32 zero = 0, other = ::if_nametoindex("p2");
        ASSERT_EQ(bpf_map_update_elem(map.get(), &zero, &other, BPF_ANY), 0);
    }
    [[nodiscard]] nlohmann::json port(const std::string& name) const {
        return (*controller_->port(name))["port"];
    }
    static Frame order(unsigned number) { return toUdpPort(oneToTwo(), number); }
    static Frame lastChanged(Frame frame) {
        frame.bytes.back() ^= 0xffU;
        return frame;
    }
    static Arrivals at(unsigned port, const Frame& frame) { return {{port, {frame}}}; }

    ModuleControl modules_{controller_};
    std::string directory_;
    const Path nobody{}; ///< what tna's counters say of a frame that a module took
};

TEST_P(TcxModules, WhatTheyLeaveAloneIsTreatedAsWithoutThem) {
    insertObedient();
    EXPECT_EQ(port("p0")["hook"], "tcx");
    EXPECT_THAT(port("p0")["profile"].get<std::string>(), HasSubstr("+custom"));
    EXPECT_EQ(treat(oneToTwo()), usual());
    EXPECT_EQ(treat(twoToOne(), 1), (Treatment{fastPath(), at(0, twoToOne())}));
    const auto unknown = FrameBuilder().ethernet(station(77), station(1)).udp();
    EXPECT_EQ(treat(unknown), (Treatment{slowPath("unknown-unicast"), {{1, {unknown}}, {2, {unknown}}}}));
    for (const char* hook : {"ingress", "bridge"})
        EXPECT_EQ(modules_.said("obedient", hook), (Said{{"continue", 3}})) << hook;
    const auto document = *controller_->modules().find("obedient", std::nullopt);
    EXPECT_EQ(document["tcx"], (nlohmann::json{"ingress", "bridge", "route"}));
    EXPECT_EQ(document["places"].size(), 3U) << document;
    EXPECT_EQ(document["places"][0]["hooks"], (nlohmann::json{"ingress", "bridge"}));
}

TEST_P(TcxModules, DecideBeforeAnythingElse) {
    insertObedient();
    EXPECT_EQ(treat(order(7001)), (Treatment{nobody, {}})) << "drop";
    EXPECT_EQ(treat(order(7002)), (Treatment{nobody, at(1, order(7002))})) << "to Linux";
    EXPECT_EQ(treat(order(7003)), (Treatment{nobody, at(2, order(7003))})) << "to another port";
    EXPECT_EQ(treat(order(7004)), (Treatment{fastPath(), at(1, lastChanged(order(7004)))})) << "changed";
    EXPECT_EQ(treat(order(7005)), (Treatment{nobody, at(1, order(7005))})) << "no verdict";
    EXPECT_EQ(treat(order(7006)), (Treatment{nobody, at(1, order(7006))})) << "no target";
    EXPECT_EQ(modules_.said("obedient", "bridge"), (Said{{"continue", 1}}));
    auto shorter = order(7009);
    shorter.bytes.pop_back();
    EXPECT_EQ(treat(order(7009)), (Treatment{fastPath(), at(1, shorter)})) << "cut";
    EXPECT_EQ(modules_.said("obedient", "ingress"),
              (Said{{"drop", 1}, {"linux", 1}, {"port", 1}, {"continue", 2}, {"faults", 2}}));
}

TEST_P(TcxModules, FrameThatWasChangedIsAnotherFrame) {
    insertObedient();
    auto other = order(7007); // for a station that nobody knows
    other.bytes[5] ^= 0xffU;
    EXPECT_EQ(treat(order(7007)), (Treatment{slowPath("unknown-unicast"), {{1, {other}}, {2, {other}}}}));
}

TEST_P(TcxModules, AfterTheDecisionOfTheBridge) {
    insertObedient();
    EXPECT_EQ(treat(order(7101)), (Treatment{nobody, {}})) << "drop";
    EXPECT_EQ(treat(order(7102)), (Treatment{nobody, at(1, order(7102))})) << "to Linux, untouched";
    EXPECT_EQ(treat(order(7103)), (Treatment{nobody, at(2, order(7103))})) << "to another port";
    EXPECT_EQ(treat(order(7104)), (Treatment{fastPath(), at(1, lastChanged(order(7104)))})) << "payload";
    EXPECT_EQ(treat(order(7105)), (Treatment{nobody, at(1, order(7105))})) << "no verdict";
    EXPECT_EQ(treat(order(7106)), (Treatment{nobody, at(1, order(7106))})) << "no target";
    for (int i = 0; i < 5; i++)
        EXPECT_EQ(treat(oneToTwo()), usual()) << "each is counted";
    const auto map = modules_.map("obedient", "told");
    const __u32 egress = ::if_nametoindex("p1");
    __u64 times = 0;
    EXPECT_EQ(bpf_map_lookup_elem(map.get(), &egress, &times), 0);
    EXPECT_EQ(times, 11U);
}

TEST_P(TcxModules, WhatWasDecidedHoldsForNoOtherFrame) {
    insertObedient();
    auto other = order(7107);
    other.bytes[5] ^= 0xffU;
    EXPECT_EQ(treat(order(7107)), (Treatment{slowPath("module-changed"), {{1, {other}}, {2, {other}}}}));
    auto longer = order(7108);
    longer.bytes.push_back(0);
    EXPECT_EQ(treat(order(7108)), (Treatment{slowPath("module-changed"), at(1, longer)}));
    EXPECT_EQ(treat(order(7110)).path, slowPath("module-changed")) << "a tag beside it";
    EXPECT_EQ(treat(order(7111)).path, slowPath("module-changed")) << "another port";
    must("ip link set p1 type bridge_slave isolated on");
    must("ip link set p0 type bridge_slave isolated on");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("isolated"), {}})) << "live guards hold";
}

TEST_P(TcxModules, NothingIsSentToAPortThatIsLeftAlone) {
    insertObedient();
    ASSERT_TRUE(controller_->pause("p2", true));
    EXPECT_EQ(treat(order(7003)), (Treatment{nobody, at(1, order(7003))}));
    ASSERT_TRUE(controller_->pause("p2", false));
    EXPECT_EQ(treat(order(7003)), (Treatment{nobody, at(2, order(7003))}));
    modules_.insert("leaving", moduleObject("obedient"), {.hooks = {"egress"}, .ports = {"p2"}});
    EXPECT_EQ(port("p2")["state"], "accelerated");
    EXPECT_EQ(treat(order(7003)), (Treatment{nobody, at(1, order(7003))})) << "it would pass by the module";
    EXPECT_EQ(modules_.said("obedient", "ingress"), (Said{{"linux", 2}, {"port", 1}}));
}

/// Into a veth from a ring: only the Ethernet header lies where programs see it at once.
void sendInParts(const std::string& device, const Frame& frame) {
    constexpr unsigned size = 4096;
    const UniqueFd socket{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
    const int version = TPACKET_V2;
    tpacket_req ring{.tp_block_size = size, .tp_block_nr = 1, .tp_frame_size = size, .tp_frame_nr = 1};
    ASSERT_EQ(::setsockopt(socket.get(), SOL_PACKET, PACKET_VERSION, &version, sizeof version), 0);
    ASSERT_EQ(::setsockopt(socket.get(), SOL_PACKET, PACKET_TX_RING, &ring, sizeof ring), 0);
    void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, socket.get(), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    auto* place = static_cast<std::uint8_t*>(mapped);
    auto* header = reinterpret_cast<tpacket2_hdr*>(place);
    std::ranges::copy(frame.bytes, place + TPACKET2_HDRLEN - sizeof(sockaddr_ll));
    header->tp_len = static_cast<unsigned>(frame.bytes.size());
    header->tp_status = TP_STATUS_SEND_REQUEST;
    sockaddr_ll to{};
    to.sll_family = AF_PACKET;
    to.sll_protocol = htons(ETH_P_ALL);
    to.sll_ifindex = static_cast<int>(::if_nametoindex(device.c_str()));
    EXPECT_GT(::sendto(socket.get(), nullptr, 0, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    ::munmap(mapped, size);
}

TEST_P(TcxModules, HeadersThatLieElsewhereAreSeen) {
    insertObedient();
    settle();
    (void)arrivals();
    {
        const auto inside = farSide_->enter();
        sendInParts("far0", order(7001));
        sendInParts("far0", order(7301));
    }
    settle();
    EXPECT_EQ(arrivals(), at(1, order(7301)));
    EXPECT_EQ(modules_.said("obedient", "ingress"), (Said{{"drop", 1}, {"continue", 1}}));
}

/// The outermost one; what lies behind it is where it would lie without.
TEST_P(TcxModules, TagsLieBesideTheFrame) {
    insertObedient();
    const auto tagged = [](unsigned tags) {
        FrameBuilder builder;
        builder.ethernet(station(2), station(1));
        for (unsigned i = 0; i < tags; i++)
            builder.vlan(0x8100, static_cast<std::uint16_t>(7 + i));
        auto frame = builder.udp();
        const auto to = ETH_HLEN + 4U * tags + 20 + 2;
        frame.bytes.at(to) = 7001 >> 8;
        frame.bytes.at(to + 1) = 7001 & 0xff;
        return frame;
    };
    EXPECT_EQ(treat(tagged(1)).out, Arrivals{});
    EXPECT_EQ(treat(tagged(2)).out, Arrivals{});
    EXPECT_EQ(treat(tagged(3)).out, at(1, tagged(3))) << "two are looked behind";
    EXPECT_EQ(modules_.said("obedient", "ingress"), (Said{{"drop", 2}, {"continue", 1}}));
}

TEST_P(TcxModules, ModuleForXdpLeavesItsPortsToLinux) {
    modules_.insert("obedient", moduleObject("obedient"), {.hooks = {"ingress"}, .ports = {"p0"}});
    EXPECT_EQ(port("p0")["state"], "linux");
    const auto reason = (*controller_->port("p0"))["features"][0]["reasons"][0];
    EXPECT_EQ(reason["code"], "custom-modules");
    EXPECT_THAT(reason["text"].get<std::string>(),
                HasSubstr("the custom module obedient is for ports at XDP only"));
    EXPECT_THAT(reason["hint"].get<std::string>(), HasSubstr("TNA_MODULE_AT_TCX"));
    EXPECT_EQ(port("p1")["state"], "accelerated");
    EXPECT_EQ(treat(order(7001)), (Treatment{{}, at(1, order(7001))}));
    modules_.replace("obedient", moduleObject(GetParam()), {.hooks = {"ingress", "bridge"}, .ports = {"p0"}});
    EXPECT_EQ(port("p0")["state"], "accelerated");
    EXPECT_EQ(treat(order(7001)), (Treatment{nobody, {}}));
    modules_.remove("obedient");
    EXPECT_EQ(treat(order(7001)), (Treatment{fastPath(), at(1, order(7001))}));
}

TEST_P(TcxModules, RefusedFunctionForTcxLeavesThePathAsItIs) {
    const auto placed = controller_->modules().place("bad", moduleObject("refused_tcx"), {}, false);
    ASSERT_FALSE(placed);
    EXPECT_THAT(placed.error().sentence(),
                HasSubstr("the kernel refuses the module's function for ingress at tcx"));
    EXPECT_THAT(placed.error().sentence(), HasSubstr("bpf_xdp_adjust_tail"));
    EXPECT_FALSE(controller_->modules().find("bad", std::nullopt));
    EXPECT_EQ(treat(oneToTwo()), usual());
    insertObedient();
    EXPECT_FALSE(controller_->modules().place("obedient", moduleObject("refused_tcx"), {}, true));
    EXPECT_EQ(treat(order(7001)), (Treatment{nobody, {}})) << "the old one stays";
}

TEST_P(TcxModules, SurviveARestart) {
    insertObedient();
    controller_.reset();
    ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
    EXPECT_EQ(treat(order(7001)), (Treatment{nobody, {}}));
    EXPECT_EQ(treat(order(7301)), (Treatment{fastPath(), at(1, order(7301))}));
    modules_.remove("obedient");
    EXPECT_EQ(treat(order(7001)), (Treatment{fastPath(), at(1, order(7001))}));
}

/// The counts of the modules are those of all frames, none was lost, and none is Linux's in between.
TEST_P(TcxModules, NoFrameIsLostWhileTheyComeAndGo) {
    const auto object = moduleObject(GetParam());
    Collector collector(far(1));
    Traffic traffic(far(0), oneToTwo());
    for (int round = 0; round < 4; round++) {
        modules_.insert("obedient", object, {.hooks = {"ingress"}});
        traffic.waitFor(10);
        modules_.replace("obedient", object, {.hooks = {"ingress", "bridge"}});
        traffic.waitFor(10);
        EXPECT_GE(modules_.said("obedient", "ingress")["continue"], 9U);
        modules_.remove("obedient");
        traffic.waitFor(10);
    }
    traffic.stop();
    settle();
    std::set<std::uint16_t> got;
    for (const auto& frames : {collector.end(), far(1).drain()})
        for (const auto& frame : frames)
            if (const auto number = traffic.numberOf(frame))
                got.insert(*number);
    EXPECT_EQ(got.size(), traffic.sent());
    EXPECT_EQ(treat(oneToTwo()), usual());
}

class TcxRouteModules : public AtTcx<RouteTest>, public ::testing::WithParamInterface<const char*> {
protected:
    void SetUp() override {
        AtTcx::SetUp();
        if (IsSkipped())
            return;
        routesAtLast();
        ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
        if (!IsSkipped())
            modules_.insert("obedient", moduleObject(GetParam()), {.hooks = {"ingress", "bridge", "route"}});
    }
    ModuleControl modules_{controller_};
    const Path nobody{};
};

TEST_P(TcxRouteModules, PacketIsRoutedAfterThem) {
    expectFast(packet());
    expectFast(packet());
    EXPECT_EQ(modules_.said("obedient", "route"), (Said{{"continue", 2}}));
    const auto dropped = toUdpPort(packet(), 7201), slow = toUdpPort(packet(), 7202);
    EXPECT_EQ(treat(dropped), (Treatment{nobody, {}}));
    EXPECT_EQ(treat(slow), (Treatment{nobody, routedTo(slow)})) << "untouched so far, Linux routes it";
    EXPECT_EQ(treat(toUdpPort(packet(), 7207)).path, slowPath("module-changed")) << "for another MAC address";
    EXPECT_EQ(treat(toUdpPort(packet(), 7211)).path, slowPath("module-changed")) << "of another port";
}

const auto withAnyStackAtTcx = ::testing::Values("obedient_both", "obedient_both_deep");
std::string nameOfModuleAtTcx(const ::testing::TestParamInfo<const char*>& parameter) {
    return parameter.param;
}
INSTANTIATE_TEST_SUITE_P(, TcxModules, withAnyStackAtTcx, nameOfModuleAtTcx);
INSTANTIATE_TEST_SUITE_P(, TcxRouteModules, withAnyStackAtTcx, nameOfModuleAtTcx);

} // namespace
} // namespace tna::test
