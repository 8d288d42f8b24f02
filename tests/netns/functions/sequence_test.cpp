// SPDX-License-Identifier: Apache-2.0
// Functions in sequence: what one gives back, the next one gets, or Linux.
#include "netns/functions/functions_fixture.hpp"
#include "support/ipv4.hpp"
#include "support/ipv6.hpp"

#include <csignal>
#include <iostream>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* inspector = R"(
users = ["nobody"]
ports = ["p0"]
given_back = "next"
[[rule]]
priority = 10
protocol = "udp"
)";
constexpr const char* behind = R"(
users = ["nobody"]
ports = ["p0"]
queues = []
frames = 64
[[rule]]
protocol = "udp"
to_port = 53
)";

class Sequence : public StartedFunctionsTest {
protected:
    void serve(const std::string& name, const std::string& work) {
        startWorkload(work, name);
        processes_[name] = std::move(workload_);
        ASSERT_TRUE(becomes(name, "connected")) << functionNamed(name);
    }
    void TearDown() override {
        processes_.clear();
        FunctionsTest::TearDown();
    }
    [[nodiscard]] nlohmann::json ruleOf(const std::string& name) const {
        return functionNamed(name)["rules"][0];
    }
    std::map<std::string, std::unique_ptr<Process>> processes_;
};

TEST_F(Sequence, TheNextFunctionHasWhatItsRulesName) {
    ASSERT_EQ(declare("inspector", inspector), "");
    ASSERT_EQ(declare("translator", behind), "");
    serve("inspector", "back");
    serve("translator", "drop");
    far(0).send(toPort(53));
    far(0).send(toPort(54));
    EXPECT_EQ(arrivesAt(1), toPort(54));
    EXPECT_TRUE(nothingAt(1));
    EXPECT_EQ(ruleOf("inspector")["packets"], 2);
    EXPECT_EQ(ruleOf("translator")["packets"], 1);
    EXPECT_EQ(ruleOf("translator")["bytes"], toPort(53).bytes.size());
}

TEST_F(Sequence, OnlyRulesBehindAllOfTheFirstOnesCount) {
    ASSERT_EQ(
        declare("inspector", std::string(inspector) + "[[rule]]\npriority = 200\nether_type = \"arp\"\n"),
        "");
    ASSERT_EQ(declare("translator", behind), "");
    serve("inspector", "back");
    startWorkload("drop", "translator");
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(1), toPort(53)) << "the translator's priority is 100";
    EXPECT_EQ(functionNamed("translator")["state"], "nobody");
    ASSERT_EQ(declare("inspector", inspector), "");
    ASSERT_TRUE(becomes("translator", "connected"));
    ASSERT_TRUE(becomes("inspector", "connected"));
    far(0).send(toPort(53));
    EXPECT_TRUE(nothingAt(1));
}

TEST_F(Sequence, AFunctionThatDoesNotGiveOnHasLinuxBehindIt) {
    ASSERT_EQ(declare("inspector", inspector), "");
    ASSERT_EQ(declare("translator", behind), "");
    serve("inspector", "back");
    serve("translator", "drop");
    auto text = std::string(inspector);
    text.replace(text.find("next"), 4, "linux");
    ASSERT_EQ(declare("inspector", text), "");
    ASSERT_TRUE(becomes("inspector", "connected"));
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(1), toPort(53));
}

TEST_F(Sequence, WhenTheNextFunctionDiesTheNextFrameIsLinuxs) {
    ASSERT_EQ(declare("inspector", inspector), "");
    ASSERT_EQ(declare("translator", behind), "");
    serve("inspector", "back");
    serve("translator", "drop");
    processes_["translator"]->end(SIGKILL);
    for (unsigned i = 0; i < 3; i++) {
        far(0).send(toPort(53));
        EXPECT_EQ(arrivesAt(1), toPort(53));
    }
    ASSERT_EQ(declare("translator", std::string("otherwise = \"drop\"\n") + behind), "");
    far(0).send(toPort(53));
    EXPECT_TRUE(nothingAt(1));
    EXPECT_GE(ruleOf("translator")["otherwise"], 3);
    ASSERT_EQ(declare("translator", behind), "");
    serve("translator", "drop");
    far(0).send(toPort(53));
    EXPECT_TRUE(nothingAt(1)) << "it has them again";
    EXPECT_EQ(tnactl({"function", "bypass", "translator"}).output, "translator is bypassed\n");
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(1), toPort(53));
}

TEST_F(Sequence, FramesThatTheNextFunctionHasNoRoomForAreLinuxs) {
    ASSERT_EQ(declare("inspector", inspector), "");
    ASSERT_EQ(declare("translator", behind), "");
    serve("inspector", "back");
    serve("translator", "back");
    processes_["translator"]->signal(SIGSTOP);
    constexpr unsigned room = 32; // half of its frames
    for (unsigned i = 0; i < room; i++)
        far(0).send(toPort(53));
    EXPECT_TRUE(nothingAt(1));
    EXPECT_TRUE(becomes("translator", "full"));
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(1), toPort(53));
    EXPECT_EQ(functionNamed("translator")["connections"][0]["sockets"][0]["no_room"], 1);
    processes_["translator"]->signal(SIGCONT);
    for (unsigned i = 0; i < room; i++)
        EXPECT_EQ(arrivesAt(1), toPort(53)) << "none is lost, frame " << i;
}

TEST_F(Sequence, AThirdFunctionIsBehindTheSecond) {
    ASSERT_EQ(declare("inspector", inspector), "");
    ASSERT_EQ(declare("translator", std::string("given_back = \"next\"\n") + behind), "");
    ASSERT_EQ(declare("counter", R"(
users = ["nobody"]
ports = ["p1", "p0"]
queues = []
[[rule]]
priority = 300
ether_type = "ipv4"
)"),
              "");
    serve("inspector", "back");
    serve("translator", "back");
    serve("counter", "back");
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(1), toPort(53));
    far(0).send(toPort(54));
    EXPECT_EQ(arrivesAt(1), toPort(54)) << "from the first one to the third, which calls the port its second";
    EXPECT_TRUE(nothingAt(1));
    EXPECT_EQ(ruleOf("translator")["packets"], 1);
    EXPECT_EQ(ruleOf("counter")["packets"], 2);
}

TEST_F(Sequence, AFunctionWithAQueueOfItsOwnHasWhatIsGivenOnAsWell) {
    must("ip link add p9 numrxqueues 2 numtxqueues 2 type veth peer name far9 numrxqueues 2 numtxqueues 2 "
         "netns " +
         far_->name());
    must("ip link set p9 up");
    const std::string ports = "users = [\"nobody\"]\nports = [\"p9\"]\n",
                      rule = "[[rule]]\nprotocol = \"udp\"\n";
    ASSERT_EQ(declare("second", ports + "queues = [1]\n" + rule), "");
    serve("second", "drop");
    ASSERT_EQ(declare("first", ports + "given_back = \"next\"\n" + rule + "priority = 1\n"), "");
    serve("first", "back");
    ASSERT_TRUE(becomes("second", "connected"));
    const auto inside = far_->enter();
    must("ip link set far9 up");
    const PacketPort far9("far9");
    EXPECT_TRUE(eventually([&] { // until its link is up
        auto frame = toPort(53);
        for (unsigned flow = 0; flow < 16; flow++) {
            frame.bytes[35] = static_cast<std::uint8_t>(flow);
            far9.send(frame);
        }
        return ruleOf("second")["packets"] > 0;
    })) << functionNamed("second");
    EXPECT_EQ(functionNamed("second")["connections"][0]["sockets"][1]["port"], "functions");
}

TEST_F(Sequence, WithoutAFunctionBeforeItThereIsNothingToHave) {
    ASSERT_EQ(declare("translator", behind), "");
    const auto refused =
        command({"timeout", "2", TNA_WORKLOAD, "drop", "translator", "--socket", functionSocket()});
    EXPECT_THAT(refused.output, HasSubstr("'translator' has no 'queues', and waits for a function that gives "
                                          "frames on"));
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(1), toPort(53));
}

/// What docs/functions.md says that it costs.
TEST_F(Sequence, DISABLED_Speed) {
    const auto measure = [&](const char* what) {
        constexpr unsigned frames = 50000, window = 128;
        const auto frame = toPort(53);
        const auto begun = std::chrono::steady_clock::now();
        unsigned sent = 0, arrived = 0;
        while (arrived < frames) {
            while (sent < frames && sent - arrived < window) {
                far(0).send(frame);
                sent++;
            }
            ASSERT_TRUE(arrivesAt(1)) << what << ", frame " << arrived;
            arrived++;
        }
        const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begun;
        std::cout << what << ": " << taken.count() / frames << " microseconds for a frame\n";
    };
    measure("no function");
    ASSERT_EQ(declare("inspector", inspector), "");
    serve("inspector", "back");
    measure("one function");
    auto declaration = std::string(behind);
    declaration.replace(declaration.find("frames = 64"), 11, "frames = 4096");
    ASSERT_EQ(declare("translator", declaration), "");
    serve("translator", "back");
    measure("two functions");
    EXPECT_GE(ruleOf("translator")["packets"], 50000);
}

/// Rules are the same for what comes in and for what another function has given on.
TEST_F(Sequence, RulesFindTheSameFrames) {
    const std::string rules = R"(
[[rule]]
priority = 100
vlan = 5
protocol = "udp"
[[rule]]
priority = 101
vlan = 5
[[rule]]
priority = 102
tcp_flags = "syn,!ack"
protocol = "tcp"
[[rule]]
priority = 103
protocol = "udp"
from_port = "53"
[[rule]]
priority = 104
protocol = "udp"
to_port = "50-60"
[[rule]]
priority = 105
from = "10.0.0.0/24"
protocol = "udp"
[[rule]]
priority = 106
to = "2001:db8::/32"
protocol = "udp"
to_port = 2000
[[rule]]
priority = 107
ether_type = "ipv6"
from = "fd00::/16"
[[rule]]
priority = 108
protocol = "udp"
[[rule]]
priority = 109
ether_type = "ipv4"
vlan = "none"
[[rule]]
priority = 110
ether_type = 0x88b6
)";
    auto tcp = toPort(53);
    tcp.bytes[23] = 6;
    auto syn = tcp;
    syn.bytes.resize(std::max<std::size_t>(syn.bytes.size(), 60));
    syn.bytes[47] = 2;
    auto fragment = toPort(53);
    fragment.bytes[21] = 5;
    auto cut = toPort(53);
    cut.bytes.resize(30);
    std::vector<Frame> frames{toPort(53), toPort(54), toPort(99), tcp, syn, fragment, cut};
    frames.push_back(FrameBuilder().ethernet(station(2), station(1)).vlan(0x8100, 0x6005).udp());
    frames.push_back(FrameBuilder().ethernet(station(2), station(1)).vlan(0x88a8, 5).vlan(0x8100, 7).udp());
    frames.push_back(
        FrameBuilder().ethernet(station(2), station(1)).vlan(0x8100, 6).etherType(0x0806).raw(46));
    frames.push_back(FrameBuilder().ethernet(station(2), station(1)).etherType(0x0806).raw(46));
    frames.push_back(ipv6Frame(station(2), station(1)));
    auto other = ipv6Frame(station(2), station(1));
    other.bytes[38] = 0xfd;
    frames.push_back(other);
    frames.push_back(FrameBuilder().ethernet(station(2), station(1)).etherType(0x88b6).raw(46));
    const auto counted = [&](const std::string& name) {
        std::vector<unsigned> all;
        const auto document = functionNamed(name);
        for (const auto& rule : document["rules"])
            all.push_back(rule["otherwise"].get<unsigned>());
        return all;
    };
    const std::string where = "users = [\"nobody\"]\nports = [\"p0\"]\n";
    ASSERT_EQ(declare("alone", where + rules), "");
    for (const auto& frame : frames)
        far(0).send(frame);
    const std::vector<unsigned> expected{2, 0, 1, 0, 2, 2, 0, 2, 0, 2, 1};
    EXPECT_TRUE(eventually([&] { return counted("alone") == expected; }, std::chrono::seconds(5)))
        << functionNamed("alone");
    EXPECT_EQ(tnactl({"function", "remove", "alone"}).output, "alone removed\n");
    ASSERT_EQ(declare("inspector", where + "given_back = \"next\"\n[[rule]]\npriority = 10\n"), "");
    ASSERT_EQ(declare("translator", where + "queues = []\n" + rules), "");
    serve("inspector", "back");
    for (const auto& frame : frames)
        far(0).send(frame);
    EXPECT_TRUE(eventually([&] { return counted("translator") == expected; }, std::chrono::seconds(5)))
        << functionNamed("translator");
}

} // namespace
} // namespace tna::test
