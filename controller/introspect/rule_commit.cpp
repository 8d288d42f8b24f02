// SPDX-License-Identifier: Apache-2.0
#include "introspect/rule_commit.hpp"

#include "introspect/decode_rule_set.hpp"
#include "netlink/socket.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <sys/socket.h>
#include <vector>

namespace tna::introspect {

namespace {
void append(std::vector<std::byte>& batch, netlink::Request& request) {
    auto& message = request.message();
    const auto* begin = reinterpret_cast<const std::byte*>(&message);
    batch.insert(batch.end(), begin, begin + message.nlmsg_len);
}
} // namespace

Result<bool> waitForRules(std::uint32_t generation) {
    constexpr const char* purpose = "cannot wait for the rule sets of nf_tables";
    auto socket = netlink::Socket::open(NETLINK_NETFILTER);
    if (!socket)
        return std::unexpected(socket.error());
    const nfgenmsg header{AF_UNSPEC, NFNETLINK_V0, htons(NFNL_SUBSYS_NFTABLES)};
    netlink::Request begin(NFNL_MSG_BATCH_BEGIN, 0, header);
    begin.put(NFNL_BATCH_GENID, htonl(generation));
    netlink::Request end(NFNL_MSG_BATCH_END, 0, header);
    std::vector<std::byte> batch;
    append(batch, begin);
    append(batch, end);
    // What is in it is done by the time that it is sent.
    if (::send(socket->fd(), batch.data(), batch.size(), 0) != static_cast<ssize_t>(batch.size()))
        return failErrno(errno, purpose);
    auto asking = netlink::Socket::open(NETLINK_NETFILTER);
    if (!asking)
        return std::unexpected(asking.error());
    netlink::Request ask(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETGEN, 0, nfgenmsg{AF_UNSPEC, NFNETLINK_V0, 0});
    std::optional<std::uint32_t> now;
    const auto outcome =
        asking->exchange(ask, [&](const netlink::Message& message) { now = decodeGeneration(message); });
    if (outcome.error != 0 || !now)
        return failErrno(outcome.error != 0 ? outcome.error : EBADMSG, purpose);
    return *now == generation;
}

} // namespace tna::introspect
