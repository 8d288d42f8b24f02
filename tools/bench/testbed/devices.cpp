// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/devices.hpp"

#include "introspect/introspector.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace tna::bench {

namespace {
/// In the words of ethtool -K.
constexpr std::array<std::pair<__u32, const char*>, 6> offloads{{{ETHTOOL_GRXCSUM, "rx"},
                                                                 {ETHTOOL_GTXCSUM, "tx"},
                                                                 {ETHTOOL_GSG, "sg"},
                                                                 {ETHTOOL_GTSO, "tso"},
                                                                 {ETHTOOL_GGSO, "gso"},
                                                                 {ETHTOOL_GGRO, "gro"}}};
constexpr std::array<std::pair<__u32, const char*>, 3> flags{
    {{ETH_FLAG_LRO, "lro"}, {ETH_FLAG_RXVLAN, "rxvlan"}, {ETH_FLAG_TXVLAN, "txvlan"}}};

__u32 ask(int socket, const std::string& device, __u32 question) {
    ethtool_value value{};
    value.cmd = question;
    ifreq request{};
    std::strncpy(request.ifr_name, device.c_str(), IFNAMSIZ - 1);
    request.ifr_data = reinterpret_cast<char*>(&value);
    return ::ioctl(socket, SIOCETHTOOL, &request) == 0 ? value.data : 0;
}

std::vector<std::string> offloadsOf(int socket, const std::string& device) {
    std::vector<std::string> list;
    for (const auto& [question, name] : offloads)
        if (ask(socket, device, question) != 0)
            list.emplace_back(name);
    const auto set = ask(socket, device, ETHTOOL_GFLAGS);
    for (const auto& [flag, name] : flags)
        if ((set & flag) != 0)
            list.emplace_back(name);
    return list;
}

Result<void> describe(const NetNamespace& where, const std::vector<std::string>& names,
                      std::vector<DeviceFacts>& facts) {
    const auto inside = NamespaceScope::enter(where);
    if (!inside)
        return std::unexpected(inside.error());
    const UniqueFd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    auto introspector = introspect::Introspector::open();
    if (!socket || !introspector)
        return introspector ? failErrno(errno, "cannot make a socket")
                            : std::unexpected(introspector.error());
    for (const auto& name : names)
        if (const auto* link = (*introspector)->network().linkByName(name))
            facts.push_back({name, link->driver, link->mtu, link->rxQueues, link->txQueues,
                             offloadsOf(socket.get(), name)});
    return {};
}
} // namespace

Result<std::vector<DeviceFacts>> describeDevices(const Topology& topology) {
    std::vector<DeviceFacts> facts;
    auto done = describe(topology.generator(), {topology.generatorDevice()}, facts);
    if (done && !topology.cabled())
        done = describe(topology.device(), {"d0", "d1"}, facts);
    if (done)
        done = describe(topology.sink(), {topology.sinkDevice()}, facts);
    if (!done)
        return std::unexpected(done.error());
    return facts;
}

nlohmann::json devicesDocument(const std::vector<DeviceFacts>& devices) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& device : devices)
        list.push_back({{"name", device.name},
                        {"driver", device.driver},
                        {"mtu", device.mtu},
                        {"rx_queues", device.receiveQueues},
                        {"tx_queues", device.transmitQueues},
                        {"offloads", device.offloads}});
    return list;
}

Result<std::array<unsigned char, 6>> macOf(const std::string& device) {
    const UniqueFd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    ifreq request{};
    std::strncpy(request.ifr_name, device.c_str(), IFNAMSIZ - 1);
    if (!socket || ::ioctl(socket.get(), SIOCGIFHWADDR, &request) != 0)
        return failErrno(errno, "cannot read the address of {}", device);
    std::array<unsigned char, 6> mac{};
    std::memcpy(mac.data(), request.ifr_hwaddr.sa_data, mac.size());
    return mac;
}

std::optional<std::array<unsigned char, 6>> macIn(const std::string& text) {
    std::array<unsigned, 6> parts{};
    int end = 0;
    if (std::sscanf(text.c_str(), "%2x:%2x:%2x:%2x:%2x:%2x%n", &parts[0], &parts[1], &parts[2], &parts[3],
                    &parts[4], &parts[5], &end) != 6 ||
        static_cast<std::size_t>(end) != text.size())
        return {};
    std::array<unsigned char, 6> mac{};
    std::ranges::transform(parts, mac.begin(),
                           [](unsigned part) { return static_cast<unsigned char>(part); });
    return mac;
}

Result<std::string> driverOf(const std::string& device) {
    const UniqueFd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    ethtool_drvinfo facts{};
    facts.cmd = ETHTOOL_GDRVINFO;
    ifreq request{};
    std::strncpy(request.ifr_name, device.c_str(), IFNAMSIZ - 1);
    request.ifr_data = reinterpret_cast<char*>(&facts);
    if (!socket || ::ioctl(socket.get(), SIOCETHTOOL, &request) != 0)
        return failErrno(errno, "cannot read the driver of {}", device);
    return std::string(facts.driver, ::strnlen(facts.driver, sizeof(facts.driver)));
}

} // namespace tna::bench
