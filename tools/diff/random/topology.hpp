// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/frame.hpp"
#include "diff/random/chance.hpp"

#include <optional>

namespace tna::diff {

using Address4 = std::uint32_t;
using Address6 = std::array<std::uint8_t, 16>;

/// A host behind a port.
struct Host {
    unsigned port;
    unsigned net;
    Mac mac;
    Address4 ip4;
    Address6 ip6;
    unsigned vlan = 0; ///< whose tag its frames always have; 0: any of the port's
    unsigned protocol = 0x8100;
};

/// How packets are spread: one in so many is of another flow from then on, one flow in so many leads far
/// away, and one in so many (0: none) comes from there.
struct Spread {
    unsigned newFlow = 200;
    unsigned far = 3;
    unsigned fromFar = 0;
};

/// Who there is to talk to, and by which addresses: what packets are made of.
struct Topology {
    std::vector<Host> hosts;
    /// By the net: the MAC address that routes out of it, if any does.
    std::vector<std::optional<Mac>> gateways;
    /// By the net: the device that leads there, if one does.
    std::vector<std::string> devices;
    /// Behind routers elsewhere.
    std::vector<Address4> far4;
    std::vector<Address6> far6;
    /// VLANs that frames of a port are sent in; 0: untagged.
    std::vector<std::vector<unsigned>> vlans = {{0}, {0}, {0}, {0}};
    Spread spread;
    bool large = false; ///< ports take frames that are larger than usual, and some hosts send them

    /// All are behind one bridge, which routes nowhere.
    [[nodiscard]] bool bridged() const { return gateways.size() == 1 && !gateways.front(); }
};

/// That hosts share, as behind a load balancer: it is nobody's own.
inline constexpr Mac groupMac{3, 0xbf, 0, 0, 0, 1};
/// 02:00:00:00:hi:lo
[[nodiscard]] Mac station(unsigned number);
/// 10.0.NET.HOST and fd00:0:0:NET::HOST
[[nodiscard]] Address4 address4(unsigned net, unsigned host);
[[nodiscard]] Address6 address6(unsigned net, unsigned host);
/// From its usual notation, which must be right.
[[nodiscard]] Address4 address4(const char* text);
[[nodiscard]] Address6 address6(const char* text);
[[nodiscard]] std::string text4(Address4 address);
[[nodiscard]] std::string text6(const Address6& address);

/// What the addresses of a configuration's hosts look like: as above, or, half the time, with any bytes where
/// those of all hosts differ in a single place.
class Addresses {
public:
    explicit Addresses(const Chance& chance);
    [[nodiscard]] Mac mac(unsigned number) const;
    /// By the number of the host in its net.
    [[nodiscard]] Address6 six(unsigned net, unsigned host) const;

private:
    std::optional<Mac> mac_;
    std::optional<Address6> six_;
};

} // namespace tna::diff
