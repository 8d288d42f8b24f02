// SPDX-License-Identifier: Apache-2.0
#include "support/bridge_netlink.hpp"

#include <array>
#include <cerrno>
#include <libmnl/libmnl.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <memory>
#include <net/if.h>

namespace tna::test {

namespace {
using Buffer = std::array<char, 1024>;

/// Sends a request and takes the kernel's acknowledgement.
int ask(nlmsghdr* request) {
    request->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
    const std::unique_ptr<mnl_socket, int (*)(mnl_socket*)> socket(mnl_socket_open(NETLINK_ROUTE),
                                                                   mnl_socket_close);
    Buffer answer{};
    if (!socket || mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0 ||
        mnl_socket_sendto(socket.get(), request, request->nlmsg_len) < 0)
        return errno;
    const auto size = mnl_socket_recvfrom(socket.get(), answer.data(), answer.size());
    if (size < 0)
        return errno;
    return mnl_cb_run(answer.data(), static_cast<std::size_t>(size), 0, mnl_socket_get_portid(socket.get()),
                      nullptr, nullptr) < 0
               ? errno
               : 0;
}
} // namespace

int setPortFlag(const std::string& port, std::uint16_t attribute, bool on) {
    Buffer buffer{};
    auto* request = mnl_nlmsg_put_header(buffer.data());
    request->nlmsg_type = RTM_SETLINK;
    auto* header = static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(request, sizeof(ifinfomsg)));
    header->ifi_family = AF_BRIDGE;
    header->ifi_index = static_cast<int>(::if_nametoindex(port.c_str()));
    auto* settings = mnl_attr_nest_start(request, IFLA_PROTINFO);
    mnl_attr_put_u8(request, attribute, on ? 1 : 0);
    mnl_attr_nest_end(request, settings);
    return ask(request);
}

int setActivity(const std::string& port, const Mac& station, std::uint8_t notify) {
    Buffer buffer{};
    auto* request = mnl_nlmsg_put_header(buffer.data());
    request->nlmsg_type = RTM_NEWNEIGH;
    request->nlmsg_flags = NLM_F_CREATE | NLM_F_REPLACE;
    auto* header = static_cast<ndmsg*>(mnl_nlmsg_put_extra_header(request, sizeof(ndmsg)));
    header->ndm_family = AF_BRIDGE;
    header->ndm_ifindex = static_cast<int>(::if_nametoindex(port.c_str()));
    header->ndm_state = NUD_NOARP | NUD_REACHABLE;
    header->ndm_flags = NTF_MASTER;
    mnl_attr_put(request, NDA_LLADDR, station.size(), station.data());
    auto* extended = mnl_attr_nest_start(request, NDA_FDB_EXT_ATTRS);
    mnl_attr_put_u8(request, NFEA_ACTIVITY_NOTIFY, notify);
    mnl_attr_nest_end(request, extended);
    return ask(request);
}

} // namespace tna::test
