// SPDX-License-Identifier: Apache-2.0
#include "daemon/way_back_link.hpp"

#include "netlink/socket.hpp"

#include <cerrno>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>

namespace tna::daemon {

namespace {
constexpr const char* intoName = "tna-fn0";
constexpr const char* outOfName = "tna-fn1";
constexpr unsigned largestMtu = 65535; // what is in functions' memory is shorter
constexpr std::uint8_t noAddresses = IN6_ADDR_GEN_MODE_NONE;

Result<void> ask(netlink::Request& request, const char* what) {
    auto socket = netlink::Socket::open(NETLINK_ROUTE);
    if (!socket)
        return std::unexpected(socket.error());
    const auto outcome = socket->exchange(request, [](const netlink::Message&) {});
    if (outcome.error != 0)
        return failErrno(outcome.error, "{}", what);
    return {};
}

void describe(netlink::Request& request, const char* name, unsigned queues) {
    request.put(IFLA_IFNAME, name);
    request.put(IFLA_MTU, largestMtu);
    request.put(IFLA_NUM_TX_QUEUES, queues);
    request.put(IFLA_NUM_RX_QUEUES, queues);
}

ifinfomsg header(unsigned ifindex, unsigned flags) {
    ifinfomsg message{};
    message.ifi_index = static_cast<int>(ifindex);
    message.ifi_flags = flags;
    message.ifi_change = flags;
    return message;
}

/// Nobody but us speaks there: no addresses of IPv6, where there is one, no ARP; and it is up.
Result<void> bringUp(unsigned ifindex) {
    netlink::Request silent{RTM_NEWLINK, NLM_F_ACK, header(ifindex, 0)};
    silent.nest(IFLA_AF_SPEC, [](auto& families) {
        families.nest(AF_INET6,
                      [](auto& inet6) { inet6.put(IFLA_INET6_ADDR_GEN_MODE, std::span{&noAddresses, 1}); });
    });
    (void)ask(silent, "");
    netlink::Request up{RTM_NEWLINK, NLM_F_ACK, header(ifindex, IFF_UP | IFF_NOARP)};
    return ask(up, "cannot bring up the veths of network functions");
}

void remove(unsigned ifindex) {
    ifinfomsg message{};
    message.ifi_index = static_cast<int>(ifindex);
    netlink::Request request{RTM_DELLINK, NLM_F_ACK, message};
    (void)ask(request, "");
}
} // namespace

void WayBackLink::removeLeftOver() {
    if (const auto ifindex = ::if_nametoindex(intoName); ifindex != 0 && ::if_nametoindex(outOfName) != 0)
        remove(ifindex);
}

Result<WayBackLink> WayBackLink::make(unsigned queues) {
    removeLeftOver();
    netlink::Request request{RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, header(0, 0)};
    describe(request, intoName, queues);
    request.nest(IFLA_LINKINFO, [&](auto& info) {
        info.put(IFLA_INFO_KIND, "veth");
        info.nest(IFLA_INFO_DATA, [&](auto& data) {
            data.nest(VETH_INFO_PEER, [&](auto& peer) {
                peer.append(header(0, 0));
                describe(peer, outOfName, queues);
            });
        });
    });
    if (auto made =
            ask(request, "cannot make the veths by which network functions give frames back to Linux");
        !made)
        return std::unexpected(made.error());
    WayBackLink link{::if_nametoindex(intoName), ::if_nametoindex(outOfName)};
    if (auto watched = link.watch(); !watched) {
        remove(link.into());
        return std::unexpected(watched.error());
    }
    for (const auto ifindex : {link.into(), link.outOf()}) {
        if (auto done = bringUp(ifindex); !done)
            return std::unexpected(done.error());
    }
    return link;
}

Result<void> WayBackLink::watch() {
    const auto place = deploy::Presences::make(2);
    if (!place)
        return std::unexpected(place.error());
    auto into = place->of(into_), outOf = place->of(outOf_);
    if (!into || !outOf)
        return std::unexpected((into ? outOf : into).error());
    intoIsHere_ = std::move(*into);
    outOfIsHere_ = std::move(*outOf);
    return {};
}

/// Either takes the other one along; an index may be another device's by now.
WayBackLink::~WayBackLink() {
    if (intoIsHere_.lasts())
        remove(into_);
    else if (outOfIsHere_.lasts())
        remove(outOf_);
}

} // namespace tna::daemon
