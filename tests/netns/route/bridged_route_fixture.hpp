// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "route_fixture.hpp"

namespace tna::test {

/// The same router, some of whose ports belong to bridges: br0 takes p0's place, br1 that of p1, with its MAC
/// and its IP address. p2 has none of its own then.
class BridgedRouteTest : public RouteTest {
protected:
    /// A bridge in the place of port `number`, which becomes its port beside the others.
    void bridge(unsigned number, const std::vector<std::string>& others = {});
    /// Makes a station known behind a port.
    static void learnt(unsigned number, const std::string& port) {
        must("bridge fdb replace " + text(station(number)) + " dev " + port + " master static");
    }
};

/// Packets come in by a bridge: p0 and p2 are ports of br0.
class FromBridge : public BridgedRouteTest {
protected:
    void SetUp() override {
        BridgedRouteTest::SetUp();
        if (IsSkipped())
            return;
        bridge(0, {"p2"});
        routesAtLast();
    }
};

/// Packets leave by a bridge: p1 and p2 are ports of br1, the host that is sent to is behind p1.
class ToBridge : public BridgedRouteTest {
protected:
    void SetUp() override {
        BridgedRouteTest::SetUp();
        if (IsSkipped())
            return;
        bridge(1, {"p2"});
        learnt(2, "p1");
        routesAtLast();
    }
};

/// From one bridge to another: p0 is a port of br0, p1 and p2 are ports of br1.
class FromBridgeToBridge : public ToBridge {
protected:
    void SetUp() override {
        ToBridge::SetUp();
        if (IsSkipped())
            return;
        bridge(0);
        routesAtLast();
    }
};

} // namespace tna::test
