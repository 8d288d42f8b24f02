// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/connections.hpp"

#include "base/file.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <memory>
#include <sys/socket.h>

namespace tna::bench {

namespace {
/// Besides flows: those of the connection that is made through each contender.
constexpr std::uint64_t others = 16;

Result<std::uint64_t> trackingSetting(const char* name) {
    const auto text = readFile(std::string{"/proc/sys/net/netfilter/nf_conntrack_"} + name);
    if (!text)
        return std::unexpected(Error{"this kernel does not track connections", text.error().sentence(),
                                     "load its module: modprobe nf_conntrack"});
    return std::strtoull(text->c_str(), nullptr, 10);
}
} // namespace

Result<void> roomForConnections(std::uint64_t count) {
    const auto most = trackingSetting("max");
    if (!most)
        return std::unexpected(most.error());
    // 0 is no limit.
    if (*most == 0 || count + others <= *most)
        return {};
    return std::unexpected(
        Error{fmt::format("connection tracking has room for {} connections, and {} are needed", *most,
                          count + others),
              {},
              fmt::format("fewer --stations, or for the whole machine: sysctl -w "
                          "net.netfilter.nf_conntrack_max={}",
                          count + others)});
}

Result<std::uint64_t> countConnections() {
    return trackingSetting("count");
}

Result<void> forgetConnections() {
    const std::unique_ptr<mnl_socket, int (*)(mnl_socket*)> socket{
        mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC), mnl_socket_close};
    std::array<char, 8192> buffer{};
    auto* message = mnl_nlmsg_put_header(buffer.data());
    message->nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8U | IPCTNL_MSG_CT_DELETE;
    message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    message->nlmsg_seq = 1;
    // Of no family, and of no ends: all.
    auto* family = static_cast<nfgenmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(nfgenmsg)));
    family->nfgen_family = AF_UNSPEC;
    family->version = NFNETLINK_V0;
    if (!socket || mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0 ||
        mnl_socket_sendto(socket.get(), message, message->nlmsg_len) < 0)
        return failErrno(errno, "cannot tell connection tracking to forget");
    const auto received = mnl_socket_recvfrom(socket.get(), buffer.data(), buffer.size());
    if (received < 0 || mnl_cb_run(buffer.data(), static_cast<std::size_t>(received), 1,
                                   mnl_socket_get_portid(socket.get()), nullptr, nullptr) < 0)
        return failErrno(errno, "connection tracking does not forget");
    return {};
}

} // namespace tna::bench
