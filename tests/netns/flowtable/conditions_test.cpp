// SPDX-License-Identifier: Apache-2.0
// Packets that flowtables do not forward, and settings that keep the fast path from it.
#include "flowtable_fixture.hpp"

namespace tna::test {
namespace {

template <typename Frames>
auto changed(Frames frame, std::size_t at, std::uint8_t value) {
    frame.bytes.at(at) = value;
    return frame;
}

template <typename Way>
class FlowtableConditions : public Way {
protected:
    static constexpr bool six = Way::six;
    static std::string host(unsigned port) {
        return six ? "fd00:0:0:" + std::to_string(port) + "::2" : "10.0." + std::to_string(port) + ".2";
    }
    static std::string server() { return host(1) + (six ? "/128" : "/32"); }
    static std::string neighbour(const char* what) {
        return std::string("ip neigh replace ") + host(1) + " lladdr " + text(station(2)) + " dev p1 nud " +
               what;
    }
    static Frame ofOneHop() {
        auto frame = Way::sent(0);
        frame.bytes.at(six ? 21 : 22) = 1;
        if (!six)
            finishIpv4(frame);
        return frame;
    }
};
using Protocols = ::testing::Types<FlowtableOf<RouteTest>, FlowtableOf<Route6Test>>;
TYPED_TEST_SUITE(FlowtableConditions, Protocols);

TYPED_TEST(FlowtableConditions, OfPackets) {
    auto shorter = this->sent(0);
    shorter.bytes.resize(this->six ? 59 : 39);
    this->expectAllAsLinux({
        {"TimeToLive", this->ofOneHop(), "ttl"},
        {"AnotherProtocol", changed(this->sent(0), this->six ? 20 : 23, 132), "flow-kind"},
        {"AnotherStation", changed(this->sent(0), 5, 0x77), "other-station"},
        {"Short", shorter, "short"},
    });
}

TYPED_TEST(FlowtableConditions, OfSettings) {
    const auto frame = this->sent(0);
    const std::string ip = this->six ? "ip -6 " : "ip ";
    this->expectAllAsLinux({
        {"FiltersAtIngress",
         frame,
         "tc",
         {"tc qdisc add dev p0 clsact", "tc filter add dev p0 ingress matchall action pass"},
         {"tc qdisc del dev p0 clsact"}},
        {"FiltersAtEgress",
         frame,
         "tc",
         {"tc qdisc add dev p1 clsact", "tc filter add dev p1 egress matchall action pass"},
         {"tc qdisc del dev p1 clsact"}},
        {"Queues",
         frame,
         "egress-qdisc",
         {"tc qdisc add dev p1 root tbf rate 1gbit burst 100k latency 50ms"},
         {"tc qdisc del dev p1 root"}},
        {"AnotherHookAtIngress",
         frame,
         "netdev-hook",
         {"nft 'table netdev other { chain c { type filter hook ingress device p0 priority 10; }; }'"},
         {"nft delete table netdev other"}},
        {"HookAtEgress",
         frame,
         "netdev-hook",
         {"nft 'table netdev other { chain c { type filter hook egress device p1 priority 10; }; }'"},
         {"nft delete table netdev other"}},
        {"RouteThatChanges",
         frame,
         "flowtable-stale",
         {ip + "route add " + this->server() + " via " + this->host(2)},
         {ip + "route del " + this->server()}},
        {"NeighbourThatIsStale",
         frame,
         "neighbour",
         {this->neighbour("stale")},
         {this->neighbour("permanent")}},
        {"AnotherMacAddressOfTheNeighbour",
         frame,
         "",
         {"ip neigh replace " + this->host(1) + " lladdr " + text(station(9)) + " dev p1 nud permanent"},
         {this->neighbour("permanent")}},
    });
}

} // namespace
} // namespace tna::test
