// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "route_fixture.hpp"

#include <sys/socket.h>

namespace tna::test {

/// What a filter of tc is about.
inline const std::string matchAll = " protocol all u32 match u32 0 0 flowid 1:1";

/// Filters of a device in a direction, of both kinds.
[[nodiscard]] inline std::vector<Condition> filters(const Frame& frame, const std::string& device,
                                                    const std::string& direction) {
    return {{"Filter",
             {"tc qdisc add dev " + device + " clsact"},
             {"tc filter add dev " + device + " " + direction + matchAll},
             "tc",
             {"tc filter del dev " + device + " " + direction},
             frame},
            {"Hook",
             {"nft add table netdev t"},
             {"nft add chain netdev t c '{ type filter hook " + direction + " device " + device +
              " priority 0; policy drop; }'"},
             "netdev-hook",
             {"nft delete chain netdev t c"},
             frame}};
}

/// The frame with a tag in front of what it carries.
[[nodiscard]] inline Frame tagged(Frame frame, unsigned tci, unsigned protocol = 0x8100) {
    const std::array<std::uint8_t, 4> tag{
        static_cast<std::uint8_t>(protocol >> 8U), static_cast<std::uint8_t>(protocol),
        static_cast<std::uint8_t>(tci >> 8U), static_cast<std::uint8_t>(tci)};
    frame.bytes.insert(frame.bytes.begin() + 12, tag.begin(), tag.end());
    return frame;
}

/// A router some of whose ports have nothing but VLAN devices: vN takes the place of pN. Needs 802.1Q.
template <typename Router>
class Vlans : public Router {
protected:
    void SetUp() override {
        Router::SetUp();
        if (this->IsSkipped())
            return;
        if (command({"ip", "link", "add", "link", "p0", "name", "probe", "type", "vlan", "id", "2"})
                .exitCode != 0)
            GTEST_SKIP() << "this kernel has no 802.1Q";
        must("ip link del probe");
    }
    /// A VLAN device on a port takes over what the port `number` has.
    void vlan(unsigned number, const std::string& port, const std::string& kind) {
        const auto name = "v" + std::to_string(number);
        must("ip address flush dev p" + std::to_string(number));
        must("ip link add link " + port + " name " + name + " address " + text(this->portMac(number)) +
             " type vlan " + kind);
        must("ip link set " + name + " up");
        this->becomes(name, number);
    }
    /// Until Linux does with the frame what it should.
    void atLast(const Frame& frame, const Arrivals& expected, unsigned port = 0) {
        ASSERT_TRUE(
            eventually([&] { return this->treat(frame, port).out == expected; }, std::chrono::seconds(20)))
            << "nothing is routed";
    }
    void expectFastTo(const Frame& frame, const Arrivals& expected, unsigned port = 0) {
        EXPECT_EQ(this->treat(frame, port), (Treatment{fastPath(), expected}));
    }
    /// Linux does this with a frame that comes in by a port; the fast path does, too, at first and from the
    /// cache. Starts the controller.
    void expectFastAsLinux(const Frame& frame, const Arrivals& expected, unsigned port = 0) {
        atLast(frame, expected, port);
        this->accelerate();
        for (unsigned i = 0; i < 2; i++)
            expectFastTo(frame, expected, port);
    }
    /// Cut off anywhere, a frame is nothing that is routed, by whomever. Starts the controller.
    void expectOnlyWholeIsFast(const Frame& whole, const Arrivals& expected) {
        atLast(whole, expected);
        this->accelerate();
        for (std::size_t length = 14; length <= whole.bytes.size(); length++) {
            auto cut = whole;
            cut.bytes.resize(length);
            const auto treated = this->treat(cut);
            EXPECT_EQ(treated.path.fast, length == whole.bytes.size() ? 1U : 0U) << length;
            EXPECT_EQ(treated.out, length == whole.bytes.size() ? expected : Arrivals{});
        }
    }
    /// Whoever captures there sees the frame, which is Linux's then.
    void expectCapturedAt(const char* interface, int protocol, const Frame& frame, const Arrivals& expected) {
        SCOPED_TRACE(std::string(interface) + " " + std::to_string(protocol));
        expectFastTo(frame, expected);
        const auto socket = this->capture(interface, protocol);
        EXPECT_EQ(this->treat(frame), (Treatment{slowPath("capture"), expected}));
        std::array<char, 2048> buffer{};
        EXPECT_GT(::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT), 0);
    }
};

/// The frame with two: inner tag, outer tag.
[[nodiscard]] inline Frame tagged(const Frame& frame, unsigned inner, unsigned outer,
                                  unsigned outerProtocol) {
    return tagged(tagged(frame, inner), outer, outerProtocol);
}

/// The same with VLAN devices on VLAN devices.
template <typename Router>
class VlanStacksOf : public Vlans<Router> {
protected:
    /// vN with this tag on sN, which gives frames a service provider's tag, on a port.
    void stack(unsigned number, const std::string& port, unsigned outer, unsigned inner) {
        const auto between = "s" + std::to_string(number);
        must("ip link add link " + port + " name " + between + " type vlan protocol 802.1ad id " +
             std::to_string(outer));
        must("ip link set " + between + " up");
        this->vlan(number, between, "id " + std::to_string(inner));
    }
};

/// Packets come in with tag 100.
template <typename Router>
class FromVlanOf : public Vlans<Router> {
protected:
    void SetUp() override {
        Vlans<Router>::SetUp();
        if (this->IsSkipped())
            return;
        this->vlan(0, "p0", "id 100");
        this->atLast(in(), this->routedTo(Router::packet()));
    }
    static Frame in() { return tagged(Router::packet(), 100); }
};

/// Packets leave with tag 200.
template <typename Router>
class ToVlanOf : public Vlans<Router> {
protected:
    void SetUp() override {
        Vlans<Router>::SetUp();
        if (this->IsSkipped())
            return;
        this->vlan(1, "p1", "id 200");
        this->atLast(Router::packet(), out());
    }
    static Arrivals out(const Frame& frame = Router::packet()) {
        return {{1, {tagged(Router::routed(frame), 200)}}};
    }
};

} // namespace tna::test
