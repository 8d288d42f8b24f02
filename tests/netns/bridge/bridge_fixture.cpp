// SPDX-License-Identifier: Apache-2.0
#include "bridge_fixture.hpp"

#include "deploy/programs/libbpf_log.hpp"

#include "support/own_objects.hpp"

#include <cstdlib>
#include <ostream>
#include <tna/fastpath.h>

namespace tna::test {

void PrintTo(const Path& path, std::ostream* out) {
    *out << path.fast << " fast";
    for (const auto& [reason, count] : path.slow)
        *out << ", " << count << " slow (" << reason << ")";
}

void PrintTo(const Treatment& treatment, std::ostream* out) {
    PrintTo(treatment.path, out);
    for (const auto& [port, frames] : treatment.out)
        for (const auto& frame : frames) {
            *out << "\nat port " << port << ": ";
            PrintTo(frame, out);
        }
}

void BridgeTest::makePorts() {
    if (const auto why = cannotUseNamespaces(); !why.empty())
        GTEST_SKIP() << why;
    deploy::captureLibbpfMessages(); // the kernel refuses one of two probes
    pinned_.emplace();
    dut_.emplace();
    farSide_.emplace();
    scope_.emplace(dut_->enter());
    for (const char* n : {"0", "1", "2"}) {
        const std::string number = n;
        const char* face = std::getenv("TNA_TEST_FACE");
        const std::string cable = (face != nullptr ? "m" : "p") + number;
        must("ip link add " + cable + " type veth peer name far" + number + " netns " + farSide_->name());
        if (face != nullptr) {
            must("ip link add p" + number + " type " + face);
            must("ip link set " + cable + " master p" + number);
            must("ip link set " + cable + " up");
        }
        inFar("ip link set far" + number + " up");
        // Without NAPI on the far end, the port would not be a redirect target.
        inFar("ethtool -K far" + number + " gro on");
        must("ip link set p" + number + " up");
    }
    {
        const auto inside = farSide_->enter();
        for (unsigned i = 0; i < 3; i++)
            farPorts_[i].emplace("far" + std::to_string(i));
        fence_.emplace();
    }
}

void BridgeTest::SetUp() {
    makePorts();
    if (IsSkipped())
        return;
    beforeTheBridge();
    // Stations that age slowly, so that no frame is needed to refresh them while a test runs.
    must("ip link add br0 type bridge mcast_snooping 0 ageing_time 6400000");
    for (const char* port : {"p0", "p1", "p2"})
        must(std::string("ip link set ") + port + " master br0");
    must("ip link set br0 up");
    for (const char* name : {"iptables", "ip6tables", "arptables"})
        if (const std::string key = std::string("net.bridge.bridge-nf-call-") + name;
            command({"sysctl", "-n", key}).exitCode == 0)
            sysctl(key, "0");
    opens(0, {1, 2});
    opens(1, {0, 2});
    opens(2, {0, 1});
}

void BridgeTest::TearDown() {
    if (controller_ && !disagrees_) {
        const auto status = controller_->status();
        EXPECT_TRUE(status["self_check"]["paused"].empty()) << status["self_check"].dump();
        // Not even once, which is too little to pause anything: else the second decision would hide what the
        // first one has forgotten to test.
        const auto homes = entriesOfOwnMaps<tna_namespace>(".data.home");
        EXPECT_TRUE(watched() || !homes.empty());
        for (const auto& home : homes)
            EXPECT_EQ(home.suspicion.key, 0U) << "a frame was decided twice, differently";
    }
}

/// Until the kernel has noticed that a link is up, it throws frames away, and the bridge blocks the port.
void BridgeTest::opens(unsigned port, const std::vector<unsigned>& others) {
    const auto broadcast = FrameBuilder()
                               .ethernet({255, 255, 255, 255, 255, 255}, station(0xff00 + port))
                               .etherType(0x88b5)
                               .raw(46);
    Arrivals wanted;
    for (const auto other : others)
        wanted[other] = {broadcast};
    ASSERT_TRUE(eventually([&] { return treat(broadcast, port).out == wanted; }, std::chrono::seconds(20)))
        << "port " << port << " does not open";
}

void BridgeTest::inFar(const std::string& words) {
    const auto inside = farSide_->enter();
    must(words);
}

void BridgeTest::accelerate(unsigned maxPorts) {
    config_.ports.excludeKinds.clear();
    if (atTcx())
        config_.ports.tcxKinds = {"veth", "tun", "bond", "team"};
    config_.limits.maxPorts = maxPorts;
    if (const char* fdb = std::getenv("TNA_TEST_FDB"); fdb != nullptr)
        config_.kernel.fdb = fdb;
    auto controller = daemon::Controller::start(config_, seams_);
    TNA_EXPECT_STARTED(controller);
    controller_ = std::move(*controller);
    for (const char* port : {"p0", "p1", "p2"})
        ASSERT_TRUE(reaches(port, "accelerated"));
}

bool BridgeTest::atTcx() {
    const char* hook = std::getenv("TNA_TEST_HOOK");
    return hook != nullptr && hook == std::string_view("tcx");
}

bool BridgeTest::watched() {
    return controller_ && controller_->capabilities()["guards"][0]["mode"] == "watched";
}

/// What is live in place has been seen by the controller, where it is watched.
void BridgeTest::catchUp() {
    if (blind_ || !watched())
        return;
    controller_->onTick();
    pump();
}

bool BridgeTest::reaches(const std::string& port, const std::string& state) {
    return eventually([&] {
        const auto processed = controller_->onNetlink();
        if (ticking_)
            controller_->onTick();
        const auto document = controller_->port(port);
        return processed && document && (*document)["port"]["state"] == state;
    });
}

Path BridgeTest::counted(unsigned port) {
    const auto document =
        controller_ ? controller_->port("p" + std::to_string(port)) : std::optional<nlohmann::json>{};
    Path path;
    if (!document)
        return path;
    path.fast = (*document)["port"]["fast_packets"];
    for (const auto& reason : (*document)["slow_path"])
        path.slow[reason["code"]] = reason["packets"];
    return path;
}

Treatment BridgeTest::treat(const Frame& frame, unsigned port) {
    (void)arrivals();
    catchUp();
    const auto before = counted(port);
    far(port).send(frame);
    Treatment treatment{{}, arrivals()};
    treatment.path = counted(port);
    treatment.path.fast -= before.fast;
    for (const auto& [reason, count] : before.slow)
        if ((treatment.path.slow[reason] -= count) == 0)
            treatment.path.slow.erase(reason);
    return treatment;
}

namespace {
/// An IGMP message (in IPv4 with a router alert) that comes from no station: a bridge queries, and reports
/// its own groups in whatever version it has last heard, when it likes.
bool isIgmpOfABridge(const Frame& frame) {
    const auto& bytes = frame.bytes;
    return bytes.size() > 38 && bytes[14] == 0x46 && bytes[23] == 2 &&
           !std::equal(bytes.begin() + 6, bytes.begin() + 10, station(0).begin());
}
} // namespace

Arrivals BridgeTest::arrivals() {
    settle();
    Arrivals found;
    for (const auto& [number, port] : farPorts_) {
        auto frames = port->drain();
        std::erase_if(frames, isIgmpOfABridge);
        if (!frames.empty())
            found[number] = std::move(frames);
    }
    return found;
}

void BridgeTest::rulesAreKnown() {
    ASSERT_TRUE(eventually([&] {
        pump();
        const auto known = controller_->rules();
        return known["learning"]["active"] == true && known["learning"]["generation"] == known["generation"];
    }));
}

void BridgeTest::learn() {
    ASSERT_EQ(treat(oneToTwo()).out, (Arrivals{{1, {oneToTwo()}}, {2, {oneToTwo()}}}));
    ASSERT_EQ(treat(twoToOne(), 1).out, (Arrivals{{0, {twoToOne()}}}));
}

} // namespace tna::test
