// SPDX-License-Identifier: Apache-2.0
#include "introspect/device_info.hpp"

#include <cerrno>
#include <cstring>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace tna::introspect {

namespace {
template <typename Command>
bool ask(int fd, const std::string& name, Command& command) {
    ifreq request{};
    name.copy(request.ifr_name, IFNAMSIZ - 1);
    request.ifr_data = reinterpret_cast<char*>(&command);
    return ::ioctl(fd, SIOCETHTOOL, &request) == 0;
}
} // namespace

Result<DeviceInfoReader> DeviceInfoReader::open() {
    UniqueFd fd{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    if (!fd)
        return failErrno(errno, "cannot open a socket for ethtool requests");
    return DeviceInfoReader{std::move(fd)};
}

DeviceInfo DeviceInfoReader::read(const std::string& name) const {
    DeviceInfo info;
    ethtool_drvinfo driver{};
    driver.cmd = ETHTOOL_GDRVINFO;
    if (ask(fd_.get(), name, driver))
        info.driver = std::string(driver.driver, strnlen(driver.driver, sizeof(driver.driver)));
    ethtool_value flags{};
    flags.cmd = ETHTOOL_GFLAGS;
    if (ask(fd_.get(), name, flags)) {
        info.vlanRxOffload = (flags.data & ETH_FLAG_RXVLAN) != 0;
        info.vlanTxOffload = (flags.data & ETH_FLAG_TXVLAN) != 0;
    }
    return info;
}

} // namespace tna::introspect
