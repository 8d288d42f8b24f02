// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/topology.hpp"

#include "bench/testbed/device_under_test.hpp"
#include "bench/testbed/frame.hpp"
#include "bench/testbed/process.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

namespace tna::bench {

namespace {
constexpr unsigned bitsPerWord = 32;
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

Result<Topology> Topology::make(const Setup& setup) {
    Topology topology;
    if (setup.cabling.cabled()) {
        if (auto used = topology.useInterfaces(setup.cabling); !used)
            return std::unexpected(used.error());
        return topology;
    }
    for (const char* role : {"g", "d", "s"}) {
        auto made = OwnNamespace::make(role);
        if (!made)
            return std::unexpected(made.error());
        topology.namespaces_.push_back(std::move(*made));
    }
    if (auto built = topology.build(setup); !built)
        return std::unexpected(built.error());
    return topology;
}

/// They take frames for whomever; for as long as the sockets live, so that a kill leaves nothing behind
/// either.
Result<void> Topology::useInterfaces(const Cabling& cabling) {
    auto here = NetNamespace::current();
    if (!here)
        return std::unexpected(here.error());
    here_.emplace(std::move(*here));
    generatorDevice_ = cabling.tx;
    sinkDevice_ = cabling.rx;
    for (const auto& name : {cabling.tx, cabling.rx}) {
        UniqueFd socket{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
        packet_mreq membership{};
        membership.mr_ifindex = static_cast<int>(::if_nametoindex(name.c_str()));
        membership.mr_type = PACKET_MR_PROMISC;
        if (!socket || ::setsockopt(socket.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &membership,
                                    sizeof(membership)) != 0)
            return failErrno(errno, "cannot make {} promiscuous", name);
        promiscuous_.push_back(std::move(socket));
    }
    return {};
}

Result<void> Topology::build(const Setup& setup) {
    const auto q = fmt::format("numrxqueues {0} numtxqueues {0}", setup.queues);
    const auto &g = namespaces_[0].name(), &d = namespaces_[1].name(), &s = namespaces_[2].name();
    const std::vector<std::string> commands = {
        fmt::format("ip -n {0} link add g0 {2} type veth peer name d0 netns {1} {2}", g, d, q),
        fmt::format("ip -n {0} link add d1 {2} type veth peer name s0 netns {1} {2}", d, s, q),
        // A far end takes redirected frames only with NAPI.
        fmt::format("ip netns exec {} ethtool -K d0 gro on", d),
        fmt::format("ip netns exec {} ethtool -K d1 gro on", d),
        fmt::format("ip netns exec {} ethtool -K s0 gro on", s),
        fmt::format("ip -n {} link set g0 address {} up", g, generatorMac),
        fmt::format("ip -n {} link set s0 address {} up", s, sinkMac),
    };
    for (const auto& words : commands)
        if (auto done = runCommand(words); !done)
            return done;
    if (auto done = shapeDevices(setup); !done)
        return done;
    if (auto done = spreadQueues(setup.queues); !done)
        return done;
    return setUpForwarding(d, setup);
}

/// For large frames, and for tags: a device that takes them out of frames hides them from XDP.
Result<void> Topology::shapeDevices(const Setup& setup) const {
    constexpr unsigned usualMtu = 1500;
    constexpr unsigned ethernet = 14;
    const auto mtu = sizesOf(setup).back() - ethernet;
    for (const auto& [where, device] : {std::pair{0, "g0"}, {1, "d0"}, {1, "d1"}, {2, "s0"}}) {
        const auto& name = namespaces_[static_cast<std::size_t>(where)].name();
        if (mtu > usualMtu)
            if (auto set = runCommand(fmt::format("ip -n {} link set {} mtu {}", name, device, mtu)); !set)
                return set;
        if (setup.vlan != 0)
            if (auto set = runCommand(
                    fmt::format("ip netns exec {} ethtool -K {} txvlan off rxvlan off", name, device));
                !set)
                return set;
    }
    return {};
}

/// Without it, all CPUs wait for the lock of one queue when plain Linux sends.
Result<void> Topology::spreadQueues(unsigned queues) const {
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
