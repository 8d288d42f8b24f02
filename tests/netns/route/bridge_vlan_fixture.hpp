// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vlan_route_fixture.hpp"

namespace tna::test {

/// A router whose ports p0 and p1 belong to one bridge, br0, with VLAN devices v0 and v1 on it: those have
/// what the ports have otherwise, but all have the bridge's MAC address.
template <typename Router>
class BridgeVlans : public Vlans<Router> {
protected:
    /// `options` of the bridge, besides the usual ones.
    void bridge(const std::string& options = "vlan_filtering 1 vlan_default_pvid 0") {
        must("ip link add br0 address " + text(this->portMac(0)) +
             " type bridge mcast_snooping 0 ageing_time 6400000 " + options);
        must("ip link set p0 address " + text(station(0x200)));
        // A bridge has the address of one of its ports, unless told otherwise.
        must("ip link set p1 address " + text(this->portMac(0)));
        for (const std::string port : {"p0", "p1"}) {
            must("ip address flush dev " + port);
            must("ip link set " + port + " master br0");
        }
        for (const char* words : {"iptables", "ip6tables", "arptables"})
            if (const std::string key = std::string("net.bridge.bridge-nf-call-") + words;
                command({"sysctl", "-n", key}).exitCode == 0)
                sysctl(key, "0");
        must("ip link set br0 up");
    }
    /// The VLAN device with this number, for frames with this id.
    void above(unsigned number, unsigned vid, const std::string& kind = {}) {
        const auto name = "v" + std::to_string(number);
        must("ip link add link br0 name " + name + " type vlan id " + std::to_string(vid) + kind);
        must("ip link set " + name + " up");
        this->becomes(name, number);
    }
    /// A part in a VLAN; "self" for the bridge's own.
    static void part(const std::string& device, unsigned vid, const std::string& how = {}) {
        must("bridge vlan add vid " + std::to_string(vid) + " dev " + device + " " + how);
    }
    /// The host with this number is known behind a port, in a VLAN or (0) none.
    static void known(unsigned number, const std::string& port, unsigned vid) {
        must("bridge fdb replace " + text(station(number)) + " dev " + port + " master static" +
             (vid != 0 ? " vlan " + std::to_string(vid) : ""));
    }
    /// An inter-VLAN router: what comes in by p0 in VLAN 10 leaves by p1 in VLAN 20.
    void interVlan() {
        bridge();
        for (const char* port : {"p0", "p1"})
            for (const unsigned vid : {10U, 20U})
                part(port, vid);
        for (const unsigned vid : {10U, 20U})
            part("br0", vid, "self");
        above(0, 10);
        above(1, 20);
        known(2, "p1", 20);
    }
    /// The address of the host behind port `number`.
    static std::string hostBehind(unsigned number) {
        const auto text = std::to_string(number);
        return std::is_base_of_v<Route6Test, Router> ? "fd00:0:0:" + text + "::2" : "10.0." + text + ".2";
    }
    /// Makes a packet one for a router's port.
    static void comesInBy(unsigned number, Frame& frame) {
        std::ranges::copy(Router::portMac(number), frame.bytes.begin());
    }
    /// What becomes of a packet: all devices of the bridge have its MAC address.
    static Frame further(const Frame& frame = Router::packet()) {
        return oneHopFurther(frame, station(2), Router::portMac(0));
    }
};

} // namespace tna::test
