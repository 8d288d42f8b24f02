// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/linux_counter.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

namespace tna::bench {

namespace {
constexpr std::size_t bufferSize = 32768;
constexpr std::size_t otherhostAt = offsetof(rtnl_link_stats64, rx_otherhost_dropped);

int readAttribute(const nlattr* attribute, void* into) {
    if (mnl_attr_get_type(attribute) == IFLA_STATS64 &&
        mnl_attr_get_payload_len(attribute) >= otherhostAt + sizeof(std::uint64_t))
        std::memcpy(into, static_cast<const char*>(mnl_attr_get_payload(attribute)) + otherhostAt,
                    sizeof(std::uint64_t));
    return MNL_CB_OK;
}

int readStatistics(const nlmsghdr* message, void* into) {
    return mnl_attr_parse(message, sizeof(ifinfomsg), readAttribute, into);
}
} // namespace

Result<LinuxCounter> LinuxCounter::open(const std::string& device) {
    std::unique_ptr<mnl_socket, Close> socket{mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC)};
    if (!socket || mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0)
        return failErrno(errno, "cannot open a netlink socket");
    return LinuxCounter{std::move(socket), ::if_nametoindex(device.c_str())};
}

Result<std::uint64_t> LinuxCounter::frames() {
    std::array<char, bufferSize> buffer{};
    nlmsghdr* message = mnl_nlmsg_put_header(buffer.data());
    message->nlmsg_type = RTM_GETLINK;
    message->nlmsg_flags = NLM_F_REQUEST;
    message->nlmsg_seq = ++sequence_;
    auto* about = static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(message, sizeof(ifinfomsg)));
    about->ifi_index = static_cast<int>(device_);
    std::uint64_t found = 0;
    if (mnl_socket_sendto(socket_.get(), message, message->nlmsg_len) < 0)
        return failErrno(errno, "cannot ask for a device's counters");
    const auto received = mnl_socket_recvfrom(socket_.get(), buffer.data(), buffer.size());
    if (received < 0 || mnl_cb_run(buffer.data(), static_cast<std::size_t>(received), sequence_,
                                   mnl_socket_get_portid(socket_.get()), readStatistics, &found) < 0)
        return failErrno(errno, "cannot read a device's counters");
    return found;
}

} // namespace tna::bench
