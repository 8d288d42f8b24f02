// SPDX-License-Identifier: Apache-2.0
#include "introspect/ethtool.hpp"

#include <algorithm>
#include <cerrno>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <optional>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace tna::introspect {

namespace {

ifreq requestFor(const model::Link& link) {
    ifreq request{};
    const auto length = std::min(link.name.size(), sizeof request.ifr_name - 1);
    std::copy_n(link.name.begin(), length, request.ifr_name);
    return request;
}

template <typename Command>
bool call(int fd, const model::Link& link, Command& command) {
    ifreq request = requestFor(link);
    request.ifr_data = reinterpret_cast<char*>(&command);
    return ioctl(fd, SIOCETHTOOL, &request) == 0;
}

std::optional<std::uint32_t> value(int fd, const model::Link& link, std::uint32_t which) {
    ethtool_value command{which, 0};
    return call(fd, link, command) ? std::optional(command.data) : std::nullopt;
}

} // namespace

Result<Ethtool> Ethtool::open() {
    UniqueFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!fd)
        return failErrno(errno, "cannot open a socket for ethtool");
    return Ethtool(std::move(fd));
}

void Ethtool::describe(model::Link& link) const {
    // ioctls go by name, and a rename may be ahead of its announcement: make sure whom we ask.
    ifreq request = requestFor(link);
    if (ioctl(fd_.get(), SIOCGIFINDEX, &request) != 0 ||
        static_cast<model::IfIndex>(request.ifr_ifindex) != link.ifindex)
        return;
    if (link.driver.empty()) {
        ethtool_drvinfo info{};
        info.cmd = ETHTOOL_GDRVINFO;
        if (call(fd_.get(), link, info))
            link.driver = std::string_view(info.driver, strnlen(info.driver, sizeof info.driver));
    }
    if (const auto flags = value(fd_.get(), link, ETHTOOL_GFLAGS)) {
        link.vlanRxOffload = (*flags & ETH_FLAG_RXVLAN) != 0;
        link.vlanTxOffload = (*flags & ETH_FLAG_TXVLAN) != 0;
    }
    if (const auto checksum = value(fd_.get(), link, ETHTOOL_GRXCSUM))
        link.receiveChecksumOff = *checksum == 0;
}

} // namespace tna::introspect
