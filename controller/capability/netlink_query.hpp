// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <libmnl/libmnl.h>
#include <memory>

namespace tna::capability {

using NetlinkSocket =
    std::unique_ptr<mnl_socket, decltype([](mnl_socket* socket) { mnl_socket_close(socket); })>;

/// Visits the attributes behind a message's family header of `offset` bytes.
template <typename Visit>
void forEachAttribute(const nlmsghdr* message, std::size_t offset, Visit visit) {
    if (mnl_nlmsg_get_payload_len(message) < offset)
        return;
    const auto* attribute = static_cast<const nlattr*>(mnl_nlmsg_get_payload_offset(message, offset));
    const auto* end = static_cast<const char*>(mnl_nlmsg_get_payload_tail(message));
    while (mnl_attr_ok(attribute, static_cast<int>(end - reinterpret_cast<const char*>(attribute)))) {
        visit(attribute);
        attribute = mnl_attr_next(attribute);
    }
}

/// Sends one request and calls `bool visit(const nlmsghdr*)` for each answer, until it has seen enough.
template <typename Visit>
[[nodiscard]] Result<void> queryNetlink(int protocol, nlmsghdr* request, Visit visit) {
    const NetlinkSocket socket{mnl_socket_open2(protocol, SOCK_CLOEXEC)};
    if (!socket || mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0)
        return failErrno(errno, "cannot open a netlink socket");
    request->nlmsg_seq = 1;
    if (mnl_socket_sendto(socket.get(), request, request->nlmsg_len) < 0)
        return failErrno(errno, "cannot ask over netlink");
    std::array<char, 32768> buffer{};
    auto call = [](const nlmsghdr* message, void* data) {
        return (*static_cast<Visit*>(data))(message) ? MNL_CB_OK : MNL_CB_STOP;
    };
    for (int state = MNL_CB_OK; state > MNL_CB_STOP;) {
        const auto received = mnl_socket_recvfrom(socket.get(), buffer.data(), buffer.size());
        if (received <= 0)
            return failErrno(errno, "no answer over netlink");
        state = mnl_cb_run(buffer.data(), static_cast<std::size_t>(received), 1,
                           mnl_socket_get_portid(socket.get()), call, &visit);
        if (state < 0)
            return failErrno(errno, "the kernel refused a netlink request");
    }
    return {};
}

} // namespace tna::capability
