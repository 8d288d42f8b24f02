// SPDX-License-Identifier: Apache-2.0
// Bridges that filter VLANs; needs a kernel whose bridges can. Plain Linux is the yardstick: it is asked
// about each setting and frame first, then the same is done with the fast path in front. Frames take the fast
// path where Linux sends them out of one other port. Many cases in a test: a bridge takes long in an emulated
// machine.
#include "bridge_fixture.hpp"

#include <fmt/format.h>

namespace tna::test {
namespace {

using Lines = std::vector<std::string>;
constexpr std::array<std::uint16_t, 2> tagProtocols{0x8100, 0x88a8};

FrameBuilder between(const Mac& destination, const Mac& source) {
    return FrameBuilder().ethernet(destination, source);
}
FrameBuilder toTwo() {
    return between(station(2), station(1));
}

class VlanFiltering : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (IsSkipped())
            return;
        if (!shell({"ip link set br0 type bridge vlan_filtering 1"}).empty())
            GTEST_SKIP() << "this kernel's bridges do not filter VLANs";
        bridge({"vlan del dev p0 vid 1", "vlan del dev p1 vid 1", "vlan del dev p2 vid 1"});
    }
    /// Runs commands; what failed, empty if nothing.
    static std::string shell(const Lines& commands) {
        const auto result = command({"sh", "-c", fmt::format("{}", fmt::join(commands, " && "))});
        return result.exitCode == 0 ? "" : result.output + " ";
    }
    /// Runs commands of bridge(8), all at once.
    static void bridge(const Lines& commands) {
        const auto text = fmt::format("{}", fmt::join(commands, "\\n"));
        const auto result = command({"sh", "-c", "printf '" + text + "\\n' | bridge -batch -"});
        ASSERT_EQ(result.exitCode, 0) << text << ": " << result.output;
    }
    static std::string known(unsigned number, unsigned port, unsigned vid) {
        return fmt::format("fdb replace {} dev p{} master static vlan {}", text(station(number)), port, vid);
    }
    /// What the fast path takes: known unicast that comes out unicast.
    static bool forwarded(const Arrivals& out) {
        return out.size() == 1 && !out.contains(0) && out.begin()->second.size() == 1;
    }
    /// The first frame may have to be evaluated, the second one finds the flow known.
    void expectLike(const Arrivals& linux, const Frame& frame, unsigned port = 0) {
        for (int i = 0; i < 2; i++) {
            const auto treated = treat(frame, port);
            EXPECT_EQ(treated.out, linux) << "of " << ::testing::PrintToString(frame);
            if (atTcx() && (treated.path == slowPath("headroom") || treated.path == slowPath("short")))
                continue; // a second tag, or what is short without the one beside it
            EXPECT_EQ(treated.path.fast, forwarded(linux) ? 1U : 0U)
                << ::testing::PrintToString(treated.path);
        }
    }
};

struct Setting {
    const char* name;
    Lines lines; ///< of bridge(8), after the VLANs of the port have been taken away
};

class VlanTable : public VlanFiltering, public ::testing::WithParamInterface<const char*> {
protected:
    static const std::vector<Setting>& ingress() {
        static const std::vector<Setting> settings{
            {"access", {"vlan add dev p0 vid 10 pvid untagged", known(1, 0, 10)}},
            {"trunk",
             {"vlan add dev p0 vid 10 pvid", "vlan add dev p0 vid 20", known(1, 0, 10), known(1, 0, 20)}},
            {"trunk without PVID", {"vlan add dev p0 vid 20", known(1, 0, 20)}},
            {"no VLAN", {}}};
        return settings;
    }
    static const std::vector<Setting>& egress() {
        static const std::vector<Setting> settings{
            {"access", {"vlan add dev p1 vid 10 pvid untagged", known(2, 1, 10)}},
            {"trunk",
             {"vlan add dev p1 vid 10", "vlan add dev p1 vid 20 untagged", known(2, 1, 10), known(2, 1, 20)}},
            {"tagged",
             {"vlan add dev p1 vid 10 pvid", "vlan add dev p1 vid 20", known(2, 1, 10), known(2, 1, 20)}},
        };
        return settings;
    }
    static std::vector<Frame> frames() {
        std::vector<Frame> all{toTwo().udp()};
        for (const std::uint16_t protocol : tagProtocols)
            for (const std::uint16_t tci :
                 std::initializer_list<std::uint16_t>{0, 0xb000, 10, 0xb00a, 20, 30, 4095})
                all.push_back(toTwo().vlan(protocol, tci).udp());
        for (const std::uint16_t outer : tagProtocols)
            for (const std::uint16_t inner : tagProtocols)
                all.push_back(toTwo().vlan(outer, 0x6014).vlan(inner, 10).udp());
        all.push_back(toTwo().vlan(0x8100, 0).vlan(0x8100, 20).udp());
        all.push_back(toTwo().vlan(0x8100, 10).vlan(0x8100, 20).vlan(0x88a8, 10).udp());
        all.push_back(toTwo().vlan(0x8100, 10).etherType(0x0806).raw(46));
        all.push_back(toTwo().vlan(0x8100, 10).etherType(0x0026).raw(46));
        all.push_back(toTwo().vlan(0x8100, 10).raw(0));
        all.push_back(toTwo().vlan(0x8100, 10).etherType(0x88b5).raw(16));
        return all;
    }
    static void set(const Setting& in, const Setting& out) {
        Lines lines{"vlan del dev p0 vid 1-4094", "vlan del dev p1 vid 1-4094"};
        lines.insert(lines.end(), in.lines.begin(), in.lines.end());
        lines.insert(lines.end(), out.lines.begin(), out.lines.end());
        bridge(lines);
    }
};

TEST_P(VlanTable, FramesComeOutAsLinuxSendsThem) {
    ASSERT_EQ(shell({std::string("ip link set br0 type bridge vlan_protocol ") + GetParam()}), "");
    std::map<std::pair<const Setting*, const Setting*>, std::vector<Arrivals>> linux;
    for (const auto& in : ingress())
        for (const auto& out : egress()) {
            set(in, out);
            for (const auto& frame : frames())
                linux[{&in, &out}].push_back(treat(frame).out);
        }
    ASSERT_NO_FATAL_FAILURE(accelerate());
    if (IsSkipped())
        return;
    unsigned fast = 0;
    for (const auto& in : ingress())
        for (const auto& out : egress()) {
            set(in, out);
            catchUp();
            blind_ = true; // nothing changes meanwhile
            const auto all = frames();
            for (std::size_t i = 0; i < all.size(); i++) {
                SCOPED_TRACE(fmt::format("from {} to {}", in.name, out.name));
                const auto& yardstick = linux.at({&in, &out})[i];
                // ARP, LLC, and what is cut off behind the tag: a matter for Linux in any case
                const bool special = all[i].bytes.size() < 34 || all[i].bytes[16] < 6 ||
                                     (all[i].bytes[16] == 0x08 && all[i].bytes[17] == 0x06);
                if (special && all[i].bytes[12] != 0x08) {
                    const auto treated = treat(all[i]);
                    EXPECT_EQ(treated.out, yardstick);
                    EXPECT_EQ(treated.path.fast, 0U);
                } else {
                    expectLike(yardstick, all[i]);
                }
                fast += forwarded(yardstick) ? 1 : 0;
            }
            blind_ = false;
        }
    EXPECT_GT(fast, 20U) << "Linux forwarded hardly anything: the settings are wrong";
}

INSTANTIATE_TEST_SUITE_P(Protocol, VlanTable, ::testing::Values("802.1Q", "802.1ad"),
                         [](const auto& parameter) {
                             return std::string(parameter.param).substr(0, 3) +
                                    (parameter.param[5] == 'Q' ? "Q" : "ad");
                         });

/// Something that changes while frames flow; where the kernel is read in place, the controller does not run
/// in between.
struct Turn {
    const char* name;
    Lines set;
    Lines unset;
    std::string reason; ///< for Linux; empty: fast
    Frame frame = toTwo().udp();
    std::optional<std::string> watched{}; ///< the reason where the controller has seen it first, if another
};

std::vector<Turn> settings() {
    const auto tagged = toTwo().vlan(0x8100, 10).udp();
    const Lines add{"bridge vlan add dev p0 vid 1 pvid untagged"};
    const Lines addOut{"bridge vlan add dev p1 vid 1 pvid untagged"};
    return {
        {"the ingress VLAN is gone",
         {"bridge vlan del dev p0 vid 10"},
         {"bridge vlan add dev p0 vid 10"},
         "vlan",
         tagged},
        {"the egress VLAN is gone",
         {"bridge vlan del dev p1 vid 10"},
         {"bridge vlan add dev p1 vid 10"},
         "egress-vlan",
         tagged},
        {"the PVID's VLAN is gone", {"bridge vlan del dev p0 vid 1"}, add, "vlan"},
        {"there is no PVID", {"bridge vlan add dev p0 vid 1 untagged"}, add, "vlan"},
        {"another PVID", {"bridge vlan add dev p0 vid 7 pvid untagged"}, add, "unknown-unicast"},
        {"a PVID that has the stations, too",
         {"bridge vlan add dev p0 vid 10 pvid untagged"},
         {"bridge vlan add dev p0 vid 10", add[0]},
         ""},
        {"tagged at egress", {"bridge vlan add dev p1 vid 1"}, addOut, ""},
        {"untagged at egress",
         {"bridge vlan add dev p1 vid 10 untagged"},
         {"bridge vlan add dev p1 vid 10"},
         "",
         tagged},
        {"no filtering",
         {"ip link set br0 type bridge vlan_filtering 0"},
         {"ip link set br0 type bridge vlan_filtering 1"},
         "bridge-options",
         toTwo().udp(),
         "unknown-unicast"},
        {"other tags",
         {"ip link set br0 type bridge vlan_protocol 802.1ad"},
         {"ip link set br0 type bridge vlan_protocol 802.1Q"},
         "bridge-options",
         tagged,
         ""},
        {"statistics",
         {"ip link set br0 type bridge vlan_stats_enabled 1"},
         {"ip link set br0 type bridge vlan_stats_enabled 0"},
         "bridge-options"},
        {"a VLAN device",
         {"ip link add link p0 name above type vlan id 10", "ip link set above up"},
         {"ip link del above"},
         "vlan-device",
         tagged},
        {"a VLAN device beside it",
         {"ip link add link p0 name above type vlan id 11", "ip link set above up"},
         {"ip link del above"},
         "vlan-device",
         tagged},
        {"a promiscuous bridge",
         {"ip link set br0 promisc on"},
         {"ip link set br0 promisc off"},
         "bridge-promisc",
         tagged},
        {"a VLAN of the bridge itself",
         {"bridge vlan add dev br0 vid 10 self"},
         {"bridge vlan del dev br0 vid 10 self"},
         "",
         tagged},
    };
}

/// Spanning trees of VLANs; an untagged frame is of VLAN 1.
std::vector<Turn> states() {
    const auto tagged = toTwo().vlan(0x8100, 10).udp();
    std::vector<Turn> all;
    for (const char* state : {"disabled", "listening", "learning", "blocking"})
        for (const char* vid : {"1", "10"})
            for (const char* port : {"p0", "p1"}) {
                // Of all combinations, those that differ: Linux keeps the PVID's state a second time.
                if ((port[1] == '1') == (vid[1] == '0') && state != std::string_view("learning"))
                    continue;
                const std::string words = fmt::format("bridge vlan set dev {} vid {} state ", port, vid);
                all.push_back({state,
                               {words + state},
                               {words + "forwarding"},
                               port[1] == '0' ? "vlan" : "egress-vlan",
                               vid[1] == '0' ? tagged : toTwo().udp()});
            }
    return all;
}

class VlanTurns : public VlanFiltering {
protected:
    void expectToHold(const std::vector<Turn>& all);
};

void VlanTurns::expectToHold(const std::vector<Turn>& all) {
    for (const char* port : {"p0", "p1"})
        bridge({std::string("vlan add dev ") + port + " vid 1 pvid untagged",
                std::string("vlan add dev ") + port + " vid 10"});
    bridge({known(1, 0, 1), known(2, 1, 1), known(1, 0, 10), known(2, 1, 10)});
    std::vector<std::optional<Treatment>> linux;
    for (const auto& turn : all) {
        const auto failure = shell(turn.set);
        if (!failure.empty())
            std::cout << "not on this machine: " << turn.name << ": " << failure << "\n";
        linux.emplace_back(failure.empty() ? std::optional(treat(turn.frame)) : std::nullopt);
        ASSERT_EQ(failure.empty() ? shell(turn.unset) : "", "") << turn.name;
    }
    ASSERT_NO_FATAL_FAILURE(accelerate());
    if (IsSkipped())
        return;
    for (std::size_t i = 0; i < all.size(); i++) {
        const auto& turn = all[i];
        if (!linux[i])
            continue;
        SCOPED_TRACE(turn.name);
        const Treatment usual{fastPath(), {{1, {turn.frame}}}};
        EXPECT_EQ(treat(turn.frame), usual);
        ASSERT_EQ(shell(turn.set), "");
        const auto& reason = watched() ? turn.watched.value_or(turn.reason) : turn.reason;
        EXPECT_EQ(treat(turn.frame),
                  (Treatment{reason.empty() ? fastPath() : slowPath(reason), linux[i]->out}));
        ASSERT_EQ(shell(turn.unset), "");
        EXPECT_EQ(treat(turn.frame), usual);
    }
}

TEST_F(VlanTurns, SettingsHoldFromTheNextFrameOn) {
    expectToHold(settings());
}

TEST_F(VlanTurns, StatesHoldFromTheNextFrameOn) {
    expectToHold(states());
}

TEST_F(VlanFiltering, StationsAreOfOneVlan) {
    bridge({"vlan add dev p0 vid 10", "vlan add dev p0 vid 20", "vlan add dev p1 vid 10",
            "vlan add dev p1 vid 20", "vlan add dev p2 vid 20", "vlan add dev p2 vid 10 untagged",
            known(1, 0, 10), known(1, 0, 20), known(2, 1, 10), known(2, 2, 20)});
    ASSERT_NO_FATAL_FAILURE(accelerate());
    if (IsSkipped())
        return;
    const auto inTen = toTwo().vlan(0x8100, 10).udp();
    const auto inTwenty = toTwo().vlan(0x8100, 20).udp();
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(treat(inTen), (Treatment{fastPath(), {{1, {inTen}}}}));
        EXPECT_EQ(treat(inTwenty), (Treatment{fastPath(), {{2, {inTwenty}}}}));
    }
    bridge({known(2, 2, 10), known(2, 1, 20)});
    EXPECT_EQ(treat(inTen), (Treatment{fastPath(), {{2, {toTwo().udp()}}}}));
    EXPECT_EQ(treat(inTwenty), (Treatment{fastPath(), {{1, {inTwenty}}}}));
    bridge({"fdb del " + text(station(1)) + " dev p0 master vlan 10"});
    EXPECT_EQ(treat(inTen).path, slowPath("source-unknown"));
    EXPECT_EQ(treat(inTwenty).path, fastPath());
}

TEST_F(VlanFiltering, FramesThatGrowAreWithinTheLimit) {
    inFar("ip link set far0 mtu 2000");
    inFar("ip link set far1 mtu 2000");
    bridge({"vlan add dev p0 vid 10 pvid untagged", "vlan add dev p0 vid 20", "vlan add dev p1 vid 10",
            "vlan add dev p1 vid 20 untagged", known(1, 0, 10), known(2, 1, 10), known(1, 0, 20),
            known(2, 1, 20)});
    std::vector<std::pair<Frame, Arrivals>> linux;
    for (std::size_t payload = 1466; payload <= 1476; payload++)
        for (const auto& frame : {toTwo().udp(payload), toTwo().vlan(0x8100, 20).udp(payload)})
            if (frame.bytes.size() <= 1518)
                linux.emplace_back(frame, treat(frame).out);
    ASSERT_NO_FATAL_FAILURE(accelerate());
    if (IsSkipped())
        return;
    catchUp();
    blind_ = true; // nothing changes meanwhile
    for (const auto& [frame, out] : linux)
        for (int i = 0; i < 2; i++) {
            const auto treated = treat(frame);
            EXPECT_EQ(treated.out, out) << frame.bytes.size();
            const auto grown = out.at(1).front().bytes.size();
            EXPECT_EQ(treated.path, grown <= 1518 ? fastPath() : slowPath("egress-mtu")) << grown;
        }
}

TEST_F(VlanFiltering, TheControllerFollowsFilteringAndItsProtocol) {
    bridge(
        {"vlan add dev p0 vid 10 pvid untagged", "vlan add dev p1 vid 10", known(1, 0, 10), known(2, 1, 10)});
    ASSERT_NO_FATAL_FAILURE(accelerate());
    if (IsSkipped())
        return;
    // Where it is watched, a table says what the bridge filters by, and the profile stays.
    const auto becomes = [&](const std::string& profile) {
        return eventually([&] {
            pump();
            return controller_->port("p0")->at("port").at("profile").get<std::string>().starts_with(
                watched() ? "bridge+watched" : profile);
        });
    };
    EXPECT_TRUE(becomes("bridge+vlan+veth"));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {toTwo().vlan(0x8100, 10).udp()}}}}));
    must("ip link set br0 type bridge vlan_protocol 802.1ad");
    EXPECT_TRUE(becomes("bridge+vlan-802.1ad"));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {toTwo().vlan(0x88a8, 10).udp()}}}}));
    must("ip link set br0 type bridge vlan_filtering 0");
    EXPECT_TRUE(becomes("bridge+veth"));
    (void)treat(oneToTwo());
    (void)treat(twoToOne(), 1);
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}}));
    must("ip link set br0 type bridge vlan_filtering 1");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{watched() ? fastPath() : slowPath("bridge-options"),
                                            {{1, {toTwo().vlan(0x88a8, 10).udp()}}}}));
}

} // namespace
} // namespace tna::test
