// SPDX-License-Identifier: Apache-2.0
// The pipeline, run by hand (BPF_PROG_TEST_RUN) on whole frames as if they had come in by p0: the verdict,
// and that no byte of a frame is ever changed. No other code of the kernel has its hands on the frame, so
// that this is about frames that no sender could send as well.
#include "beside_ports.hpp"
#include "bridge_fixture.hpp"
#include "closer_looks.hpp"
#include "support/own_objects.hpp"
#include "support/program.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <random>
#include <sys/socket.h>

namespace tna::test {
namespace {

class Pipeline : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (!IsSkipped())
            accelerate(); // the kernel runs a program for a port only if the port has XDP
        if (!IsSkipped())
            load();
    }
    void load(unsigned shortest = 0) {
        const auto kernel = capability::probeKernel();
        ASSERT_TRUE(kernel) << kernel.error().sentence();
        auto loaded = loadBesidePorts(shortest);
        ASSERT_TRUE(loaded) << loaded.error().sentence();
        fastPath_ = std::move(*loaded);
        // These frames are no sender's socket buffers, as those on a veth may be.
        const auto program =
            fastPath_->program({.modules = {assemble::bridgeModule()}, .brNetfilter = kernel->brNetfilter});
        ASSERT_TRUE(program) << program.error().sentence();
        program_ = *program;
        must("bridge fdb replace " + text(station(1)) + " dev p0 master static");
        must("bridge fdb replace " + text(station(2)) + " dev p1 master static");
        ASSERT_EQ(run(oneToTwo()).first, shortest > oneToTwo().bytes.size() ? XDP_PASS : XDP_REDIRECT);
    }
    [[nodiscard]] std::pair<int, Frame> run(const Frame& frame) const {
        return runProgram(program_, frame, ::if_nametoindex("p0"));
    }
    void expect(const Frame& frame, int verdict, const std::string& what) const {
        const auto [said, after] = run(frame);
        EXPECT_EQ(said, verdict) << what << ": " << ::testing::PrintToString(frame);
        EXPECT_EQ(after, frame) << what << ": bytes were changed";
    }

    /// What is remembered of frames from a station to another one, after such a frame.
    [[nodiscard]] tna_flow remembered(const Frame& frame, const char* port = "p0") const {
        const auto before = flows();
        EXPECT_EQ(runProgram(program_, frame, ::if_nametoindex(port)).first, XDP_REDIRECT);
        for (const auto& flow : flows())
            if (std::ranges::none_of(before, [&](const auto& old) { return old.mark == flow.mark; }))
                return flow;
        ADD_FAILURE() << "it was remembered before";
        return {};
    }
    static std::vector<tna_flow> flows() { return entriesOfOwnMaps<tna_flow>("tna_flows"); }
    /// Brings about what else would take that memory of the kernel is freed and used again.
    template <typename Change>
    static void remember(const tna_flow& known, const Change& change) {
        unsigned changed = 0;
        changeEntriesOfOwnMaps<tna_flow>("tna_flows", [&](tna_flow& flow) {
            if (flow.mark != known.mark)
                return;
            change(flow);
            changed++;
        });
        EXPECT_EQ(changed, 1U);
    }

    std::unique_ptr<deploy::FastPath> fastPath_;
    int program_ = -1;
};

/// What the documentation says, written down a second time and in another way.
int verdictByTheBook(const Frame& frame) {
    const auto& bytes = frame.bytes;
    const auto is = [&](std::size_t at, const Mac& mac) {
        return std::equal(mac.begin(), mac.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    };
    const auto typeAt = [&](std::size_t at) { return bytes[at] << 8U | bytes[at + 1]; };
    if (bytes.size() < 34 || !is(0, station(2)) || !is(6, station(1)))
        return XDP_PASS;
    int type = typeAt(12);
    if (type == ETH_P_8021Q || type == ETH_P_8021AD)
        type = typeAt(16);
    for (const int special : {0x0806, 0x8035, 0x88e3, 0x8902})
        if (type == special)
            return XDP_PASS;
    return type < 0x0600 || bytes.size() > 1518 ? XDP_PASS : XDP_REDIRECT;
}

/// One frame in 1024 is decided twice, also where nothing else asks for a closer look.
TEST_F(Pipeline, FrameThatIsDueIsDecidedTwice) {
    disagrees_ = true;
    must("bridge fdb replace " + text(station(4)) + " dev p2 master static");
    const auto elsewhere = remembered(FrameBuilder().ethernet(station(4), station(1)).udp());
    must("bridge fdb replace " + text(station(5)) + " dev p1 master static");
    const auto frame = FrameBuilder().ethernet(station(5), station(1)).udp();
    const auto known = remembered(frame);
    ASSERT_NE(known.out_slot, elsewhere.out_slot);
    for (const auto& [packets, verdict] : {std::pair{5U, XDP_REDIRECT}, std::pair{1023U, XDP_PASS}}) {
        remember(known, [&](tna_flow& flow) {
            flow.packets = packets;
            flow.out_slot = elsewhere.out_slot;
        });
        expect(frame, verdict, std::to_string(packets) + " packets before this one");
    }
}

/// Frames of senders always get the closer look, for what their buffers may hold. These do not: that
/// something deserves the look is for the straight line to see, once the flow is in the cache.
TEST_F(Pipeline, StraightLineSeesWhatDeservesACloserLook) {
    auto changes = closerLooks();
    changes.push_back(
        {{"nft add table bridge t", "nft add chain bridge t c { type filter hook forward priority 0; }"},
         "nft delete table bridge t"});
    for (const auto& change : changes) {
        expect(oneToTwo(), XDP_REDIRECT, "before " + change.there.front());
        for (const auto& words : change.there)
            must(words);
        expect(oneToTwo(), XDP_PASS, change.there.back());
        must(change.back);
    }
    expect(oneToTwo(), XDP_REDIRECT, "before a capture");
    const UniqueFd capture{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL))};
    expect(oneToTwo(), XDP_PASS, "a capture");
}

TEST_F(Pipeline, BothStationsBehindThePortThatWasAnotherOne) {
    must("bridge fdb replace " + text(station(3)) + " dev p1 master static");
    const auto frame = FrameBuilder().ethernet(station(3), station(1)).udp();
    const auto known = remembered(frame);
    const auto back = remembered(twoToOne(), "p1");
    must("bridge fdb replace " + text(station(3)) + " dev p0 master static");
    remember(known, [&](tna_flow& flow) { flow.egress_dev = back.egress_dev; });
    expect(frame, XDP_PASS, "out of the port that it came in by");
}

TEST_F(Pipeline, StationOfAnotherBridgeWhereOneOfThisWas) {
    const auto frame = FrameBuilder().ethernet(station(4), station(1)).udp();
    BridgeTest::run({"ip link add br1 type bridge && ip link set br1 up", "ip link set p0 master br1",
                     "ip link set p1 master br1",
                     "bridge fdb replace " + text(station(1)) + " dev p0 master static",
                     "bridge fdb replace " + text(station(4)) + " dev p1 master static"});
    const auto known = remembered(frame);
    BridgeTest::run({"ip link set p0 master br0",
                     "bridge fdb replace " + text(station(1)) + " dev p0 master static",
                     "bridge fdb replace " + text(station(3)) + " dev p2 master static"});
    const auto here = remembered(FrameBuilder().ethernet(station(3), station(1)).udp());
    remember(known, [&](tna_flow& flow) {
        flow.source = here.source;
        flow.ingress_port = here.ingress_port;
        flow.fresh_until = here.fresh_until;
    });
    expect(frame, XDP_PASS, "to another bridge");
}

/// Drivers pad them on Linux's way out, and send them as they are by redirect.
TEST_F(Pipeline, FramesThatAreTooShortForTheEgressPort) {
    constexpr std::size_t shortest = 52;
    load(shortest);
    must("bridge fdb replace " + text(station(3)) + " dev p2 master static");
    const auto sized = [](unsigned to, std::size_t size) {
        return FrameBuilder().ethernet(station(to), station(1)).etherType(0x0800).raw(size - 14);
    };
    for (int again = 0; again < 2; again++)
        for (std::size_t size = 46; size <= 60; size++) {
            const auto what = std::to_string(size) + " bytes";
            expect(sized(2, size), size < shortest ? XDP_PASS : XDP_REDIRECT, what);
            expect(sized(3, size), XDP_REDIRECT, what + " by a port that takes any");
        }
}

TEST_F(Pipeline, NothingLeavesByAPortThatIsNoEgress) {
    load(TNA_NO_EGRESS);
    must("bridge fdb replace " + text(station(3)) + " dev p2 master static");
    for (int again = 0; again < 2; again++) {
        expect(oneToTwo(), XDP_PASS, "to the port that nothing leaves by");
        expect(FrameBuilder().ethernet(station(3), station(1)).udp(), XDP_REDIRECT, "to another one");
    }
    EXPECT_EQ(
        runProgram(program_, FrameBuilder().ethernet(station(3), station(2)).udp(), ::if_nametoindex("p1"))
            .first,
        XDP_REDIRECT)
        << "from it";
}

TEST_F(Pipeline, FramesOfEveryLength) {
    for (std::size_t size = 14; size <= 1600; size += size < 120 ? 1 : 7) {
        const auto frame = FrameBuilder().ethernet(station(2), station(1)).etherType(0x0800).raw(size - 14);
        expect(frame, verdictByTheBook(frame), std::to_string(size) + " bytes");
    }
}

TEST_F(Pipeline, TruncatedFramesOfEveryKind) {
    const auto base = [] { return FrameBuilder().ethernet(station(2), station(1)); };
    for (const auto& whole : {base().udp(), base().vlan(0x8100, 5).udp(),
                              base().vlan(0x88a8, 5).vlan(0x8100, 6).udp(), base().etherType(0x86dd).raw(60),
                              base().etherType(0x0806).raw(60), base().etherType(0x0026).raw(60)})
        for (std::size_t size = 14; size < whole.bytes.size(); size++) {
            const Frame cut{{whole.bytes.begin(), whole.bytes.begin() + static_cast<std::ptrdiff_t>(size)}};
            expect(cut, verdictByTheBook(cut), "cut to " + std::to_string(size));
        }
}

TEST_F(Pipeline, EveryEtherType) {
    for (unsigned type = 0; type <= 0xffff; type += type < 0x0700 || type % 257 == 0 ? 1 : 3) {
        const auto frame = FrameBuilder()
                               .ethernet(station(2), station(1))
                               .etherType(static_cast<std::uint16_t>(type))
                               .raw(46);
        if (run(frame).first != verdictByTheBook(frame))
            ADD_FAILURE() << "EtherType " << std::hex << type;
    }
    for (const std::uint16_t type :
         std::initializer_list<std::uint16_t>{0x0806, 0x8035, 0x88e3, 0x8902, 0x0600})
        for (const std::uint16_t tag : std::initializer_list<std::uint16_t>{0, 0x8100, 0x88a8}) {
            auto builder = FrameBuilder().ethernet(station(2), station(1));
            const auto frame = (tag == 0 ? builder : builder.vlan(tag, 5)).etherType(type).raw(46);
            expect(frame, verdictByTheBook(frame), "EtherType");
        }
}

/// Frames that fill more than one page come in several buffers.
TEST_F(Pipeline, FramesInSeveralBuffers) {
    for (const std::size_t size : {4096, 9000, 16000}) {
        const auto frame = FrameBuilder().ethernet(station(2), station(1)).etherType(0x0800).raw(size - 14);
        expect(frame, XDP_PASS, std::to_string(size) + " bytes");
    }
}

TEST_F(Pipeline, RandomFramesAndFramesWithRandomFaults) {
    std::mt19937 random(20240607);
    const auto upTo = [&](std::size_t most) { return random() % (most + 1); };
    unsigned redirected = 0;
    for (int i = 0; i < 20000; i++) {
        Frame frame = FrameBuilder().ethernet(station(2), station(1)).udp(upTo(200));
        if (i % 4 == 0)
            frame = FrameBuilder().ethernet(station(2), station(1)).vlan(0x8100, 1).udp(upTo(200));
        const auto faults = upTo(3);
        for (std::size_t fault = 0; fault < faults; fault++)
            frame.bytes[upTo(i % 2 == 0 ? 39 : 23)] = static_cast<std::uint8_t>(random());
        if (i % 8 == 0)
            for (auto& byte : frame.bytes)
                byte = static_cast<std::uint8_t>(random());
        if (i % 3 == 0)
            frame.bytes.resize(14 + upTo(frame.bytes.size() - 14));
        const auto [verdict, after] = run(frame);
        redirected += verdict == XDP_REDIRECT;
        ASSERT_EQ(verdict, verdictByTheBook(frame)) << ::testing::PrintToString(frame);
        ASSERT_EQ(after, frame) << "bytes were changed";
    }
    EXPECT_GT(redirected, 1000U) << "these frames do not test much";
}

} // namespace
} // namespace tna::test
