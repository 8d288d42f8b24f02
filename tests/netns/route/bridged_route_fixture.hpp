// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "route_fixture.hpp"

namespace tna::test {

/// A router some of whose ports belong to bridges: br0 takes p0's place, br1 that of p1, with its MAC and its
/// IP address. p2 has none of its own then.
template <typename Router>
class Bridged : public Router {
protected:
    /// A bridge in the place of port `number`, which becomes its port beside the others.
    void bridge(unsigned number, const std::vector<std::string>& others = {});
    /// Makes a station known behind a port.
    static void learnt(unsigned number, const std::string& port) {
        must("bridge fdb replace " + text(station(number)) + " dev " + port + " master static");
    }
};

/// Packets come in by a bridge: p0 and p2 are ports of br0.
template <typename Router>
class FromBridgeOf : public Bridged<Router> {
protected:
    void SetUp() override {
        Router::SetUp();
        if (this->IsSkipped())
            return;
        this->bridge(0, {"p2"});
        this->routesAtLast();
    }
};

/// Packets leave by a bridge: p1 and p2 are ports of br1, the host that is sent to is behind p1.
template <typename Router>
class ToBridgeOf : public Bridged<Router> {
protected:
    void SetUp() override {
        Router::SetUp();
        if (this->IsSkipped())
            return;
        this->bridge(1, {"p2"});
        this->learnt(2, "p1");
        this->routesAtLast();
    }
};

/// The group address that the host sent to shares with others (as load balancers do), known behind one port
/// only; on br1, whatever is sent to a group goes to all ports.
template <typename Router>
class ToGroupOf : public ToBridgeOf<Router> {
protected:
    void expectAllPortsToGetIt(const Frame& frame, const std::string& neighbour) {
        const std::string group = "03:bf:0a:00:01:02";
        must("bridge fdb add " + group + " dev p1 master static");
        must("ip neigh replace " + neighbour + " lladdr " + group + " dev br1 nud permanent");
        const auto linux = this->treat(frame).out;
        EXPECT_EQ(linux.size(), 2U);
        this->accelerate();
        EXPECT_EQ(this->treat(frame), (Treatment{slowPath("multicast"), linux}));
    }
};

/// From one bridge to another: p0 is a port of br0, p1 and p2 are ports of br1.
template <typename Router>
class FromBridgeToBridgeOf : public ToBridgeOf<Router> {
protected:
    void SetUp() override {
        ToBridgeOf<Router>::SetUp();
        if (this->IsSkipped())
            return;
        this->bridge(0);
        this->routesAtLast();
    }
};

using FromBridge = FromBridgeOf<RouteTest>;
using FromBridge6 = FromBridgeOf<Route6Test>;
using ToBridge = ToBridgeOf<RouteTest>;
using ToBridge6 = ToBridgeOf<Route6Test>;
using ToGroup = ToGroupOf<RouteTest>;
using ToGroup6 = ToGroupOf<Route6Test>;
using FromBridgeToBridge = FromBridgeToBridgeOf<RouteTest>;
using FromBridgeToBridge6 = FromBridgeToBridgeOf<Route6Test>;

} // namespace tna::test
