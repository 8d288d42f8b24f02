// SPDX-License-Identifier: Apache-2.0
#include "bridge_fixture.hpp"

#include "deploy/libbpf_log.hpp"

#include <ostream>

namespace tna::test {

void PrintTo(const Path& path, std::ostream* out) {
    *out << path.fast << " fast";
    for (const auto& [reason, count] : path.slow)
        *out << ", " << count << " slow (" << reason << ")";
}

void BridgeTest::SetUp() {
    if (const auto why = cannotUseNamespaces(); !why.empty())
        GTEST_SKIP() << why;
    deploy::captureLibbpfMessages(); // the kernel refuses one of two probes
    dut_.emplace();
    farSide_.emplace();
    scope_.emplace(dut_->enter());
    // An ageing time of hours: on a slow machine, no frame is due to refresh its station.
    must("ip link add br0 type bridge mcast_snooping 0 ageing_time 3600000");
    for (const char* n : {"0", "1", "2"}) {
        const std::string number = n;
        must("ip link add p" + number + " type veth peer name far" + number + " netns " + farSide_->name());
        inFar("ip link set far" + number + " up");
        // Without NAPI on the far end, the port would not be a redirect target.
        inFar("ethtool -K far" + number + " gro on");
        must("ip link set p" + number + " master br0 up");
    }
    must("ip link set br0 up");
    for (const char* name : {"iptables", "ip6tables", "arptables"})
        if (const std::string key = std::string("net.bridge.bridge-nf-call-") + name;
            command({"sysctl", "-n", key}).exitCode == 0)
            sysctl(key, "0");
    const auto inside = farSide_->enter();
    for (unsigned i = 0; i < 3; i++)
        farPorts_[i].emplace("far" + std::to_string(i));
}

void BridgeTest::inFar(const std::string& words) {
    const auto inside = farSide_->enter();
    must(words);
}

void BridgeTest::accelerate() {
    config::Config config;
    config.ports.excludeKinds.clear();
    config.limits.flowsPerCpu = 256;
    auto controller = daemon::Controller::start(config);
    if (!controller)
        GTEST_SKIP() << controller.error().sentence();
    controller_ = std::move(*controller);
    ASSERT_TRUE(reaches("p0", "accelerated"));
    ASSERT_TRUE(reaches("p1", "accelerated"));
}

bool BridgeTest::reaches(const std::string& port, const std::string& state) {
    return eventually([&] {
        const auto processed = controller_->onNetlink();
        const auto document = controller_->port(port);
        return processed && document && (*document)["port"]["state"] == state;
    });
}

Path BridgeTest::counted(unsigned port) {
    const auto document = controller_->port("p" + std::to_string(port));
    Path path;
    if (!document)
        return path;
    path.fast = (*document)["port"]["fast_packets"];
    for (const auto& reason : (*document)["slow_path"])
        path.slow[reason["code"]] = reason["packets"];
    return path;
}

Path BridgeTest::send(const Frame& frame, unsigned port) {
    const auto before = counted(port);
    far(port).send(frame);
    Path after;
    eventually([&] { return (after = counted(port)) != before; }, std::chrono::seconds(2));
    after.fast -= before.fast;
    for (auto it = after.slow.begin(); it != after.slow.end();) {
        if (const auto old = before.slow.find(it->first); old != before.slow.end())
            it->second -= old->second;
        it = it->second == 0 ? after.slow.erase(it) : std::next(it);
    }
    return after;
}

/// The first frames are flooded; they are waited for, so that nothing is under way afterwards.
void BridgeTest::learn() {
    far(0).send(oneToTwo());
    ASSERT_EQ(arrivesAt(1), oneToTwo());
    ASSERT_EQ(arrivesAt(2), oneToTwo());
    far(1).send(twoToOne());
    ASSERT_EQ(arrivesAt(0), twoToOne());
}

} // namespace tna::test
