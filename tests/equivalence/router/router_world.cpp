// SPDX-License-Identifier: Apache-2.0
#include "router_world.hpp"

#include "support/command.hpp"
#include "support/eventually.hpp"
#include "support/ipv4.hpp"
#include "support/ipv6.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tna::test {

namespace {
constexpr std::size_t header = 14;

unsigned etherType(const Frame& frame) {
    return frame.bytes.size() < header ? 0 : frame.bytes[12] * 256U + frame.bytes[13];
}

/// ICMP to senders which Linux limits by time: unreachable hosts and nets, redirects, late fragments. And
/// times, which nobody can foresee.
bool limited4(const Frame& frame) {
    if (frame.bytes.size() < header + 22 || frame.bytes[header + 9] != 1 || frame.bytes[header] != 0x45)
        return false;
    const auto type = frame.bytes[header + 20];
    const auto code = frame.bytes[header + 21];
    return (type == 3 && (code == 0 || code == 1 || code == 13)) || type == 5 || (type == 11 && code == 1) ||
           type == 14;
}

/// The same, and what neighbours ask each other; groups are joined when the kernel likes (behind a hop-by-hop
/// header).
bool limited6(const Frame& frame) {
    if (frame.bytes.size() < header + 42)
        return false;
    const bool group = frame.bytes[0] == 0x33 && frame.bytes[5] == 0x16;
    const auto type = frame.bytes[header + 40];
    const auto code = frame.bytes[header + 41];
    return group || (frame.bytes[header + 6] == 58 &&
                     ((type >= 133 && type <= 137) || (type == 1 && code == 3) || (type == 3 && code == 1)));
}

bool comesWhenItLikes(const Frame& frame) {
    const auto type = etherType(frame);
    return type == 0x0806 || (type == 0x0800 && limited4(frame)) || (type == 0x86dd && limited6(frame));
}

/// What Linux answers has an identification of its own each time.
void forgetIdentification(Frame& frame) {
    if (etherType(frame) != 0x0800 || frame.bytes.size() < header + 20 || frame.bytes[header + 9] != 1)
        return;
    frame.bytes[header + 4] = frame.bytes[header + 5] = 0;
    finishIpv4(frame);
}
} // namespace

Mac RouterWorld::portMac(unsigned port) {
    return {2, 0, 0, 0, 0xff, static_cast<std::uint8_t>(0x10 + port)};
}

std::string RouterWorld::address(int version, unsigned port, unsigned host) {
    return version == 4 ? fmt::format("10.0.{}.{}", port, host) : fmt::format("fd00:0:0:{}::{}", port, host);
}

std::string RouterWorld::configuration(unsigned port) {
    auto words = fmt::format("ip address replace {}/24 dev p{} && ip address replace {}/64 dev p{} nodad",
                             address(4, port, 1), port, address(6, port, 1), port);
    for (const int version : {4, 6})
        for (unsigned host = 2; host <= 3; host++)
            words += fmt::format(" && ip neigh replace {} lladdr {} dev p{} nud permanent",
                                 address(version, port, host), text(station(2 * port + host - 2)), port);
    return words;
}

RouterWorld::RouterWorld() {
    const auto inside = home().enter();
    sysctl("net.ipv4.ip_forward", "1");
    sysctl("net.ipv4.conf.all.rp_filter", "0");
    sysctl("net.ipv4.conf.all.send_redirects", "0");
    // As many answers as there are questions, however fast they come; no questions for neighbours.
    sysctl("net.ipv4.icmp_ratelimit", "0");
    sysctl("net.ipv4.icmp_ratemask", "0");
    sysctl("net.ipv6.icmp.ratelimit", "0");
    sysctl("net.ipv6.conf.lo.disable_ipv6", "0");
    must("ip link set lo up");
    for (unsigned i = 0; i < ports; i++) {
        const auto port = "p" + std::to_string(i);
        sysctl("net.ipv4.conf." + port + ".rp_filter", "0");
        sysctl("net.ipv4.conf." + port + ".send_redirects", "0");
        for (const char* version : {"ipv4", "ipv6"}) {
            const auto neighbours = std::string("net.") + version + ".neigh." + port + ".";
            sysctl(neighbours + "mcast_solicit", "0");
            sysctl(neighbours + "delay_first_probe_time", "1000"); // what time does must not decide
            sysctl(neighbours + "base_reachable_time_ms", "10000000");
        }
        for (const char* words : {"addr_gen_mode=1", "accept_dad=0", "disable_ipv6=0"})
            must("sysctl -qw net.ipv6.conf." + port + "." + words);
        must("ip link set " + port + " up");
        EXPECT_EQ(run(configuration(i)), "0 ");
    }
    sysctl("net.ipv6.conf.all.forwarding", "1");
}

bool RouterWorld::opens(const Fence& fence) const {
    return eventually(
        [&] {
            for (unsigned port = 0; port < ports; port++) {
                const unsigned other = (port + 1) % ports;
                const auto ipv4 = ipv4Frame(portMac(port), station(2 * port),
                                            {.from = address(4, port, 2), .to = address(4, other, 2)});
                const auto ipv6 = ipv6Frame(portMac(port), station(2 * port),
                                            {.from = address(6, port, 2), .to = address(6, other, 2)});
                if (send(port, ipv4) != 0 || send(port, ipv6) != 0)
                    return false;
                fence.pass();
                if (arrivals()[other].size() != 2)
                    return false;
            }
            return true;
        },
        std::chrono::seconds(20));
}

int RouterWorld::send(unsigned port, const Frame& frame) const {
    int error = 0;
    (void)eventually([&] { return (error = World::send(port, frame)) != ENOBUFS; });
    return error;
}

Arrivals RouterWorld::arrivals() const {
    auto found = World::arrivals();
    for (auto& [port, frames] : found) {
        std::erase_if(frames, comesWhenItLikes);
        for (auto& frame : frames)
            forgetIdentification(frame);
    }
    std::erase_if(found, [](const auto& port) { return port.second.empty(); });
    return found;
}

} // namespace tna::test
