// SPDX-License-Identifier: Apache-2.0
#include "bench/topology.hpp"

#include "base/file.hpp"
#include "bench/process.hpp"

#include <chrono>
#include <filesystem>
#include <thread>

namespace tna::bench {

namespace {
constexpr unsigned bitsPerWord = 32;
constexpr int stationAttempts = 50;
constexpr auto stationPause = std::chrono::milliseconds(20);

std::string stationsBatch(unsigned stations) {
    std::string batch;
    for (unsigned i = 0; i < stations; i++)
        batch += fmt::format("fdb replace 02:00:00:{0:02x}:{1:02x}:{2:02x} dev d1 master dynamic\n"
                             "fdb replace 02:01:00:{0:02x}:{1:02x}:{2:02x} dev d0 master dynamic\n",
                             i >> 16U, i >> 8U & 255U, i & 255U);
    return batch;
}

Result<void> addStations(const std::string& name, unsigned stations) {
    const auto batch = fmt::format("/tmp/{}.fdb", name);
    if (auto written = writeFile(batch, stationsBatch(stations)); !written)
        return written;
    // A port takes stations once it forwards, which is a moment after it was set up.
    auto done = runProgram({"bridge", "-n", name, "-batch", batch});
    for (int attempt = 0; !done && attempt < stationAttempts; attempt++) {
        std::this_thread::sleep_for(stationPause);
        done = runProgram({"bridge", "-n", name, "-batch", batch});
    }
    std::error_code ignored;
    std::filesystem::remove(batch, ignored);
    return done;
}
} // namespace

std::vector<std::string> xpsMasks(unsigned queues) {
    std::vector<std::string> masks;
    for (unsigned cpu = 0; cpu < queues; cpu++) {
        auto mask = fmt::format("{:x}", 1U << (cpu % bitsPerWord));
        for (unsigned word = 0; word < cpu / bitsPerWord; word++)
            mask += ",00000000";
        masks.push_back(mask);
    }
    return masks;
}

Result<BridgeTopology> BridgeTopology::make(unsigned queues, unsigned stations) {
    BridgeTopology topology;
    for (const char* role : {"g", "d", "s"}) {
        auto made = OwnNamespace::make(role);
        if (!made)
            return std::unexpected(made.error());
        topology.namespaces_.push_back(std::move(*made));
    }
    if (auto built = topology.build(queues, stations); !built)
        return std::unexpected(built.error());
    return topology;
}

Result<void> BridgeTopology::build(unsigned queues, unsigned stations) {
    const auto q = fmt::format("numrxqueues {0} numtxqueues {0}", queues);
    const auto &g = namespaces_[0].name(), &d = namespaces_[1].name(), &s = namespaces_[2].name();
    const std::vector<std::string> commands = {
        fmt::format("ip -n {0} link add g0 {2} type veth peer name d0 netns {1} {2}", g, d, q),
        fmt::format("ip -n {0} link add d1 {2} type veth peer name s0 netns {1} {2}", d, s, q),
        // A far end takes redirected frames only with NAPI.
        fmt::format("ip netns exec {} ethtool -K d0 gro on", d),
        fmt::format("ip netns exec {} ethtool -K d1 gro on", d),
        fmt::format("ip netns exec {} ethtool -K s0 gro on", s),
        fmt::format("ip -n {} link add br0 type bridge ageing_time 1000000 mcast_snooping 0", d),
        fmt::format("ip -n {} link set d0 master br0 up", d),
        fmt::format("ip -n {} link set d1 master br0 up", d),
        fmt::format("ip -n {} link set br0 up", d),
        fmt::format("ip -n {} link set g0 up", g),
        fmt::format("ip -n {} link set s0 up", s),
    };
    for (const auto& words : commands)
        if (auto done = runCommand(words); !done)
            return done;
    if (auto done = spreadQueues(queues); !done)
        return done;
    return addStations(d, stations);
}

/// Without it, all CPUs wait for the lock of one queue when plain Linux sends.
Result<void> BridgeTopology::spreadQueues(unsigned queues) const {
    if (queues < 2)
        return {};
    const auto masks = xpsMasks(queues);
    for (const auto& [where, device] : {std::pair{0, "g0"}, {1, "d0"}, {1, "d1"}, {2, "s0"}})
        for (unsigned queue = 0; queue < queues; queue++) {
            // /sys shows the devices of the namespace it was mounted in: `ip netns exec` mounts it anew.
            const auto line =
                fmt::format("echo {} > /sys/class/net/{}/queues/tx-{}/xps_cpus", masks[queue], device, queue);
            if (auto set =
                    runProgram({"ip", "netns", "exec", namespaces_[static_cast<std::size_t>(where)].name(),
                                "sh", "-c", line});
                !set)
                return set;
        }
    return {};
}

} // namespace tna::bench
