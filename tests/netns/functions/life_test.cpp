// SPDX-License-Identifier: Apache-2.0
// Functions that stop, hang, or lose tnad; and what they give back.
#include "base/file.hpp"
#include "netns/functions/functions_fixture.hpp"
#include "support/eventually.hpp"

#include <cerrno>
#include <csignal>
#include <future>
#include <poll.h>
#include <tna/function.hpp>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

class Life : public StartedFunctionsTest {
protected:
    void serve(const std::string& work, const std::string& declaration) {
        ASSERT_EQ(declare("dns", declaration), "");
        startWorkload(work, "dns");
        ASSERT_TRUE(becomes("dns", "connected"));
    }
    void takeLongFrames() const {
        must("ip link set p0 mtu 3000");
        must("ip link set p1 mtu 3000");
        const auto inside = far_->enter();
        must("ip link set far0 mtu 3000");
        must("ip link set far1 mtu 3000");
    }
    [[nodiscard]] static Frame ofLength(std::size_t bytes) {
        auto frame = FrameBuilder().ethernet(station(2), station(1)).udp(bytes - 42);
        frame.bytes[36] = 0;
        frame.bytes[37] = 53;
        return frame;
    }
};

TEST_F(Life, FramesThatAStoppedFunctionHasNoRoomForAreLinuxs) {
    serve("macswap", std::string("frames = 64\n") + dnsFunction);
    workload_->signal(SIGSTOP);
    constexpr unsigned room = 32; // half of its frames
    for (unsigned i = 0; i < room; i++)
        far(0).send(toPort(53));
    EXPECT_TRUE(nothingAt(1)) << "its ring has room";
    EXPECT_TRUE(becomes("dns", "full"));
    for (unsigned i = 0; i < 3; i++) {
        far(0).send(toPort(53));
        EXPECT_EQ(arrivesAt(1), toPort(53));
    }
    EXPECT_EQ(functionNamed("dns")["connections"][0]["sockets"][0]["no_room"], 3);
    workload_->signal(SIGCONT);
    for (unsigned i = 0; i < room; i++)
        EXPECT_EQ(arrivesAt(0), swapped(toPort(53))) << "none is lost, frame " << i;
    EXPECT_TRUE(becomes("dns", "connected"));
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(0), swapped(toPort(53))) << "back with its progress";
    EXPECT_TRUE(nothingAt(1));
}

TEST_F(Life, FunctionConnectsAgainWhenTnadHasBeenKilled) {
    const auto file = directory_ + "/functions.d/dns.toml";
    end(SIGTERM);
    ASSERT_TRUE(writeFile(file, dnsFunction));
    startTnad();
    startWorkload("macswap", "dns");
    ASSERT_TRUE(becomes("dns", "connected"));
    for (const int signal : {SIGKILL, SIGTERM}) {
        end(signal);
        far(0).send(toPort(53));
        EXPECT_EQ(arrivesAt(1), toPort(53)) << "without tnad, Linux forwards";
        startTnad();
        ASSERT_TRUE(becomes("dns", "connected"));
        far(0).send(toPort(53));
        EXPECT_EQ(arrivesAt(0), swapped(toPort(53)));
    }
}

TEST_F(Life, QueueThatHasJustBeenLeftIsHandedOver) {
    ASSERT_EQ(declare("dns", dnsFunction), "");
    tna_function_options options = TNA_FUNCTION_OPTIONS;
    const auto path = functionSocket();
    options.socket = path.c_str();
    // The kernel lets go of it a little later than tnad. One that has to come again has a machine to wait for
    // which has no time.
    unsigned again = 0;
    for (unsigned turn = 0; turn < 40; turn++) {
        ASSERT_TRUE(becomes("dns", "nobody"));
        NetworkFunction function{"dns", options};
        ASSERT_TRUE(function.usable()) << function.why();
        again += function.error() == EAGAIN ? 1 : 0;
        ASSERT_TRUE(eventually([&] {
            (void)function.receive(std::chrono::milliseconds(1)); // asks again what it has not got yet
            return tna_function_connections(function.get()) != 0;
        })) << function.why();
    }
    EXPECT_LE(again, 2U);
}

TEST_F(Life, BypassedFunctionGetsNothingUntilItIsResumed) {
    serve("macswap", dnsFunction);
    EXPECT_EQ(tnactl({"function", "bypass", "dns"}).output, "dns is bypassed\n");
    EXPECT_EQ(functionNamed("dns")["state"], "bypassed");
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(1), toPort(53));
    EXPECT_EQ(tnactl({"function", "resume", "dns"}).output, "dns gets its frames again\n");
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(0), swapped(toPort(53)));
}

TEST_F(Life, DeclarationThatChangesWhileProcessesConnectIsTheOneThatCounts) {
    ASSERT_EQ(declare("dns", dnsFunction), "");
    startWorkload("macswap", "dns");
    unsigned frames = 0;
    for (unsigned turn = 0; turn < 30; turn++) {
        frames = 64U << turn % 8U;
        ASSERT_EQ(declare("dns", "frames = " + std::to_string(frames) + "\n" + dnsFunction), "");
        ::poll(nullptr, 0, static_cast<int>(turn * 7 % 120)); // it tries to connect every 100 ms
    }
    ASSERT_TRUE(becomes("dns", "connected"));
    workload_->signal(SIGSTOP);
    for (unsigned i = 0; i < frames / 2; i++)
        far(0).send(toPort(53));
    EXPECT_TRUE(becomes("dns", "full")) << "its memory is the last declaration's: " << functionNamed("dns");
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(1), toPort(53));
    workload_->signal(SIGCONT);
}

TEST_F(Life, RemovedFunctionGetsNothing) {
    serve("macswap", dnsFunction);
    EXPECT_EQ(tnactl({"function", "remove", "dns"}).output, "dns removed\n");
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(1), toPort(53));
    EXPECT_NE(command({"ip", "link", "show", "tna-fn0"}).exitCode, 0) << "nothing is left behind";
    EXPECT_EQ(declare("dns", dnsFunction), "");
    EXPECT_TRUE(becomes("dns", "connected")) << "it waits for its declaration";
}

TEST_F(Life, FramesThatNobodyTakesAreDroppedWhereTheOperatorWantsThat) {
    serve("macswap", std::string("otherwise = \"drop\"\n") + dnsFunction);
    workload_->end(SIGKILL);
    far(0).send(toPort(53));
    EXPECT_TRUE(nothingAt(1));
    far(0).send(toPort(54));
    EXPECT_EQ(arrivesAt(1), toPort(54));
    EXPECT_EQ(functionNamed("dns")["rules"][0]["otherwise"], 1);
}

TEST_F(Life, FramesThatDoNotFitIntoItsMemoryAreLinuxs) {
    takeLongFrames();
    ASSERT_TRUE(accelerated());
    serve("macswap", dnsFunction);
    far(0).send(ofLength(1792));
    EXPECT_EQ(arrivesAt(0), swapped(ofLength(1792)));
    far(0).send(ofLength(1793));
    EXPECT_EQ(arrivesAt(1), ofLength(1793));
    EXPECT_EQ(functionNamed("dns")["connections"][0]["sockets"][0]["too_long"], 1);
}

/// Who has connected before has shorter ones, until it has gone.
TEST_F(Life, FramesThatFitIntoItsNextMemoryOnlyAreNotLost) {
    takeLongFrames();
    ASSERT_TRUE(accelerated());
    startWorkload("macswap", "dns");
    for (unsigned turn = 0; turn < 3; turn++) {
        ASSERT_EQ(declare("dns", dnsFunction), "");
        ASSERT_TRUE(becomes("dns", "connected"));
        workload_->signal(SIGSTOP);
        auto declared = std::async(std::launch::async, [&] {
            return declare("dns", std::string("frame_size = 4096") + dnsFunction);
        });
        bool arrives = true;
        while (arrives && declared.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
            far(0).send(ofLength(2000));
            arrives = arrivesAt(1) == ofLength(2000);
        }
        EXPECT_TRUE(arrives);
        EXPECT_EQ(declared.get(), "");
        workload_->signal(SIGCONT);
        ASSERT_TRUE(becomes("dns", "connected"));
        far(0).send(ofLength(2000));
        EXPECT_EQ(arrivesAt(0), swapped(ofLength(2000))) << "they fit by now";
    }
}

TEST_F(Life, PortThatIsNotThereIsWaitedFor) {
    ASSERT_EQ(declare("later", "users = [\"nobody\"]\nports = [\"p9\"]\n[[rule]]\nether_type = \"arp\"\n"),
              "");
    EXPECT_EQ(functionNamed("later")["state"], "no-port");
    startWorkload("macswap", "later");
    must("ip link add p9 type veth peer name far9 netns " + far_->name());
    must("ip link set p9 up");
    {
        const auto inside = far_->enter();
        must("ip link set far9 up");
    }
    ASSERT_TRUE(becomes("later", "connected"));
    const auto inside = far_->enter();
    const PacketPort far9("far9");
    const auto arp = FrameBuilder().ethernet(station(2), station(1)).etherType(0x0806).raw(46);
    EXPECT_TRUE(eventually([&] {
        far9.send(arp);
        return far9.receive(std::chrono::milliseconds(100)) == swapped(arp);
    })) << "steered on a port that is no port of a bridge";
}

TEST_F(Life, FrameThatIsGivenBackIsReceivedByThePortThatItCameInBy) {
    serve("back", dnsFunction);
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(1), toPort(53)) << "the bridge forwards it";
    // The bridge learns the sender on that port, and floods what it does not know.
    auto unknown = toPort(53);
    unknown.bytes[5] = 77;
    unknown.bytes[11] = 88;
    far(0).send(unknown);
    EXPECT_EQ(arrivesAt(1), unknown);
    EXPECT_THAT(command({"bridge", "fdb", "show", "br", "br0"}).output,
                HasSubstr("02:00:00:00:00:58 dev p0 master br0"));
    EXPECT_TRUE(nothingAt(0));
}

TEST_F(Life, WhoGivesBackDoesNotConnectWithoutAWayBack) {
    must("ip link add tna-fn0 type veth peer name taken"); // so there is none
    ASSERT_EQ(declare("dns", dnsFunction), "");
    tna_function_options options = TNA_FUNCTION_OPTIONS;
    const auto path = functionSocket();
    options.socket = path.c_str();
    options.gives_back = 1;
    {
        const NetworkFunction refused{"dns", options};
        EXPECT_EQ(refused.error(), EAGAIN);
        EXPECT_THAT(refused.why(), HasSubstr("gives frames back, and there is no way back for it"));
        far(0).send(toPort(53));
        EXPECT_EQ(arrivesAt(1), toPort(53));
    }
    options.gives_back = 0;
    const NetworkFunction sends{"dns", options};
    EXPECT_EQ(sends.error(), 0) << sends.why();
}

/// Whatever becomes of its veths: it is made again, and who had it connects again.
TEST_F(Life, WayBackThatSomebodyTakesAwayIsMadeAgain) {
    serve("back", dnsFunction);
    const Namespace elsewhere;
    for (const auto& taken :
         {std::string("ip link del tna-fn0"), "ip link set tna-fn0 netns " + elsewhere.name(),
          "ip link set tna-fn1 netns " + elsewhere.name()}) {
        must(taken);
        EXPECT_TRUE(eventually([&] {
            far(0).send(toPort(53));
            return far(1).receive(std::chrono::milliseconds(100)) == toPort(53) &&
                   functionNamed("dns")["state"] == "connected";
        })) << taken;
        const auto before = functionNamed("dns")["rules"][0]["packets"].get<int>();
        far(0).send(toPort(53));
        EXPECT_EQ(arrivesAt(1), toPort(53));
        EXPECT_EQ(functionNamed("dns")["rules"][0]["packets"], before + 1) << "the function has had it";
        EXPECT_EQ(command({"ip", "link", "show", "tna-fn1"}).exitCode, 0);
    }
}

/// What has been sent or dropped is not the program's any more, and nobody gets its place twice.
TEST_F(Life, FrameIsSentOrDroppedOnce) {
    ASSERT_EQ(declare("dns", dnsFunction), "");
    tna_function_options options = TNA_FUNCTION_OPTIONS;
    const auto path = functionSocket();
    options.socket = path.c_str();
    NetworkFunction function{"dns", options};
    ASSERT_EQ(function.error(), 0) << function.why();
    tna_frame frame{};
    ASSERT_EQ(tna_function_new_frame(function.get(), &frame), 0);
    auto outside = frame;
    outside.data = frame.data - (frame.id & 0xffffffffU) * 2048 - 256 - 8; // it ends within
    outside.length = 64;
    EXPECT_EQ(tna_function_send(function.get(), &outside, 0), -EINVAL);
    frame.length = 64;
    EXPECT_EQ(tna_function_send(function.get(), &frame, 0), 0);
    EXPECT_EQ(tna_function_send(function.get(), &frame, 0), -EINVAL);
    EXPECT_EQ(tna_function_give_back(function.get(), &frame), -EINVAL);
    function.drop(frame);
    tna_frame next{};
    ASSERT_EQ(tna_function_new_frame(function.get(), &next), 0);
    EXPECT_NE(next.data, frame.data);
    function.drop(next);
    function.drop(next);
    tna_frame again{}, other{};
    ASSERT_EQ(tna_function_new_frame(function.get(), &again), 0);
    ASSERT_EQ(tna_function_new_frame(function.get(), &other), 0);
    EXPECT_NE(again.data, other.data);
}

TEST_F(Life, FunctionNamesItsOwnPorts) {
    serve("back", dnsFunction);
    const auto first = std::move(workload_);
    workload_.reset();
    ASSERT_EQ(declare("other", "users = [\"nobody\"]\nports = [\"p1\"]\n[[rule]]\nprotocol = \"udp\"\n"), "");
    startWorkload("back", "other");
    ASSERT_TRUE(becomes("other", "connected"));
    const auto answer = FrameBuilder().ethernet(station(1), station(2)).udp();
    far(1).send(answer);
    EXPECT_EQ(arrivesAt(0), answer) << "both call their port the first one";
    far(0).send(toPort(53));
    EXPECT_EQ(arrivesAt(1), toPort(53));
}

TEST_F(Life, PortThatComesLaterIsHandedOver) {
    ASSERT_EQ(
        declare("dns", "users = [\"nobody\"]\nports = [\"p0\", \"p9\"]\n[[rule]]\nether_type = 0x88b5\n"),
        "");
    startWorkload("macswap", "dns");
    ASSERT_TRUE(becomes("dns", "connected"));
    must("ip link add p9 type veth peer name far9 netns " + far_->name());
    must("ip link set p9 up");
    const auto inside = far_->enter();
    must("ip link set far9 up");
    const PacketPort far9("far9");
    const auto frame = FrameBuilder().ethernet(station(2), station(1)).etherType(0x88b5).raw(46);
    EXPECT_TRUE(eventually([&] {
        far9.send(frame);
        return far9.receive(std::chrono::milliseconds(100)) == swapped(frame);
    }));
    far(0).send(frame);
    EXPECT_EQ(arrivesAt(0), swapped(frame));
}

TEST_F(Life, EachQueueHasAThread) {
    must("ip link add p9 numrxqueues 2 numtxqueues 2 type veth peer name far9 numrxqueues 2 numtxqueues 2 "
         "netns " +
         far_->name());
    must("ip link set p9 up");
    ASSERT_EQ(
        declare("dns",
                "users = [\"nobody\"]\nports = [\"p9\"]\nqueues = [0, 1]\n[[rule]]\nprotocol = \"udp\"\n"),
        "");
    startWorkload("macswap", "dns", {"--queue", "0", "--queue", "1", "--busy"});
    const auto inside = far_->enter();
    must("ip link set far9 up");
    ASSERT_TRUE(eventually(
        [&] { return functionNamed("dns").value("connections", nlohmann::json::array()).size() == 2; }));
    const PacketPort far9("far9");
    const auto answered = [&](unsigned flow, std::chrono::milliseconds wait) {
        auto frame = toPort(53);
        frame.bytes[35] = static_cast<std::uint8_t>(flow);
        far9.send(frame);
        return far9.receive(wait) == swapped(frame);
    };
    // Until the link is up, and each of the two threads has its queue.
    ASSERT_TRUE(eventually([&] {
        unsigned flow = 0;
        while (flow < 16 && answered(flow, std::chrono::milliseconds(100)))
            flow++;
        (void)far9.drain();
        return flow == 16;
    }));
    for (unsigned flow = 0; flow < 64; flow++)
        EXPECT_TRUE(answered(flow, std::chrono::seconds(5))) << "flow " << flow;
    unsigned packets = 0;
    const auto document = functionNamed("dns");
    for (const auto& connection : document["connections"]) {
        EXPECT_GT(connection["sockets"][0]["packets"], 0) << connection;
        packets += connection["sockets"][0]["packets"].get<unsigned>();
    }
    EXPECT_GE(packets, 65U);
}

} // namespace
} // namespace tna::test
