// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "condition.hpp"
#include "support/ipv4.hpp"
#include "support/ipv6.hpp"

#include <functional>

namespace tna::test {

/// A router: its ports p0, p1, p2 have 10.0.N.1/24, and know the host 10.0.N.2 behind them as station N + 1.
class RouteTest : public BridgeTest {
public:
    /// A packet from the host behind p0; to the one behind p1, unless told otherwise.
    [[nodiscard]] static Frame packet(const Ipv4& fields = {}) {
        return ipv4Frame(portMac(0), station(1), fields);
    }
    /// What comes out at a port for it.
    [[nodiscard]] static Frame routed(const Frame& frame, unsigned port = 1) {
        return oneHopFurther(frame, station(port + 1), portMac(port));
    }
    [[nodiscard]] static Arrivals routedTo(const Frame& frame, unsigned port = 1) {
        return {{port, {routed(frame, port)}}};
    }
    [[nodiscard]] static Mac portMac(unsigned port) { return station(0x100 + port); }
    /// For tables: a condition about a packet of this fixture, which p1 sends out usually.
    [[nodiscard]] static Condition about(Condition condition, const Ipv4& fields = {}) {
        condition.frame = packet(fields);
        return condition;
    }

protected:
    void SetUp() override;
    /// Gives a device what the port with this number has: its addresses, and the host behind it as neighbour.
    virtual void becomes(const std::string& device, unsigned number);
    /// The host with this number is known behind a device.
    static void knows(const std::string& device, unsigned number);
    /// Until a packet comes out where it should without the fast path.
    void routesAtLast(const Frame& frame = packet());
    /// Many commands in one run of ip, each without that word.
    static void inOneRun(const std::vector<std::string>& lines, const std::string& ip = "ip ");
    /// A packet socket for a protocol, on an interface or (null) on all.
    static UniqueFd capture(const char* interface, int protocol);
    /// Does something while a generic XDP program drops whatever a device receives.
    static void whileItDropsAll(const char* device, const std::function<void()>& something);
    /// The frame is treated the fast way, and comes out where it should.
    void expectFast(const Frame& frame, unsigned port = 1) {
        EXPECT_EQ(treat(frame), (Treatment{fastPath(), routedTo(frame, port)}));
    }
    /// Each packet socket that is to see a packet of this protocol does; the packet is slow as long.
    void expectCapturesToSee(const Frame& frame, int protocol);
    /// Sockets for other protocols than IP, and those that only send; `protocol` is the frame's.
    void expectSocketsOfOthersNotToMatter(const Frame& frame, int protocol);
    /// Nor do sockets with filters of DHCP clients and servers, on either side, for this protocol or all of
    /// them; to them belongs `wanted`.
    void expectListenersNotToMatter(const Frame& frame, int protocol, const std::optional<Frame>& wanted);
    /// expectAsLinux() for one condition after the other, with the controller started once.
    void expectAllAsLinux(const std::vector<Condition>& conditions) {
        expectAllTo(conditions, [](const Frame& frame) { return routedTo(frame); });
    }
    /// The same where something else than that comes out usually.
    void expectAllTo(const std::vector<Condition>& conditions,
                     const std::function<Arrivals(const Frame&)>& usual);
    /// Frames one after the other, first without the fast path, then with it. Says how many took it.
    std::uint64_t expectEachAsLinux(const std::vector<Frame>& frames);
    /// What Linux answers to senders has an identification of its own each time: 0 stands for it.
    [[nodiscard]] Arrivals arrivals() override;
};

/// The same for IPv6: its ports have fd00:0:0:N::1/64, and know the host fd00:0:0:N::2; IPv4 is not
/// forwarded.
class Route6Test : public RouteTest {
public:
    [[nodiscard]] static Frame packet(const Ipv6& fields = {}) {
        return ipv6Frame(portMac(0), station(1), fields);
    }
    [[nodiscard]] static Condition about(Condition condition, const Ipv6& fields = {}) {
        condition.frame = packet(fields);
        return condition;
    }

protected:
    void SetUp() override;
    void becomes(const std::string& device, unsigned number) override;
    void routesAtLast(const Frame& frame = packet()) { RouteTest::routesAtLast(frame); }
    /// Without the reports with which Linux joins groups, whenever it likes.
    [[nodiscard]] Arrivals arrivals() override;
};

/// The same with the controller started.
template <typename Router>
class Accelerated : public Router {
protected:
    void SetUp() override {
        Router::SetUp();
        if (!this->IsSkipped())
            this->accelerate();
    }
};

using AcceleratedRouteTest = Accelerated<RouteTest>;
using AcceleratedRoute6Test = Accelerated<Route6Test>;

} // namespace tna::test
