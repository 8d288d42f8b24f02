// SPDX-License-Identifier: Apache-2.0
#include "diff/links.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <memory>

namespace tna::diff {

namespace {
int takeLink(const nlmsghdr* message, void* found) {
    const auto* header = static_cast<const ifinfomsg*>(mnl_nlmsg_get_payload(message));
    Link link;
    const auto takeAttribute = [](const nlattr* attribute, void* data) -> int {
        auto& mac = static_cast<Link*>(data)->mac;
        if (mnl_attr_get_type(attribute) == IFLA_ADDRESS && mnl_attr_get_payload_len(attribute) == mac.size())
            std::copy_n(static_cast<const std::uint8_t*>(mnl_attr_get_payload(attribute)), mac.size(),
                        mac.begin());
        return MNL_CB_OK;
    };
    mnl_attr_parse(message, sizeof(*header), takeAttribute, &link);
    const bool up = (header->ifi_flags & IFF_UP) != 0;
    const bool carrier = (header->ifi_flags & IFF_LOWER_UP) != 0;
    const bool running = (header->ifi_flags & IFF_RUNNING) != 0;
    link.noticed = (up && carrier) == running;
    static_cast<std::vector<Link>*>(found)->push_back(link);
    return MNL_CB_OK;
}

/// An error number, or 0; EINTR where links have changed meanwhile.
int readOnce(std::vector<Link>& found) {
    std::array<char, 65536> buffer{};
    auto* request = mnl_nlmsg_put_header(buffer.data());
    request->nlmsg_type = RTM_GETLINK;
    request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    mnl_nlmsg_put_extra_header(request, sizeof(ifinfomsg));
    const std::unique_ptr<mnl_socket, int (*)(mnl_socket*)> socket(
        mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC), mnl_socket_close);
    if (!socket || mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0 ||
        mnl_socket_sendto(socket.get(), request, request->nlmsg_len) < 0)
        return errno;
    for (int more = MNL_CB_OK; more > MNL_CB_STOP;) {
        const auto size = mnl_socket_recvfrom(socket.get(), buffer.data(), buffer.size());
        more = size < 0 ? MNL_CB_ERROR
                        : mnl_cb_run(buffer.data(), static_cast<std::size_t>(size), 0,
                                     mnl_socket_get_portid(socket.get()), takeLink, &found);
        if (more == MNL_CB_ERROR)
            return errno;
    }
    return 0;
}
} // namespace

Result<std::vector<Link>> readLinks() {
    int error = EINTR;
    for (unsigned i = 0; i < 100 && error == EINTR; i++) {
        std::vector<Link> found;
        error = readOnce(found);
        if (error == 0)
            return found;
    }
    return failErrno(error, "cannot read the links");
}

} // namespace tna::diff
