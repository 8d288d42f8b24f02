// SPDX-License-Identifier: Apache-2.0
// Connections of TCP whose packets get marks before they are routed (`ip rule add fwmark`). What connection
// tracking calls invalid has no connection, and none of its marks: Linux may route it elsewhere.
#include "tcp_fixture.hpp"

#include <fmt/format.h>

namespace tna::test {
namespace {

class MarkedTcp : public Tcp {
protected:
    static constexpr unsigned other = 9;
    static constexpr const char* pass_ =
        "table ip guard { chain forward { type filter hook forward priority 0;"
        " ct state established accept; }; ";
    static constexpr const char* marks_ = "chain marks { type filter hook prerouting priority -140;"
                                          " ct state new ct mark set 1; iif p0 meta mark set ct mark; }; }";
    static constexpr const char* early_ =
        "chain early { type filter hook prerouting priority -150; ct state invalid drop; }; ";
    static constexpr Segment outOfWindow{.payload = 10, .ahead = 10000000};

    void SetUp() override {
        Tcp::SetUp();
        if (IsSkipped())
            return;
        must("ip neigh replace 10.0.1.3 lladdr " + text(station(other)) + " dev p1 nud permanent");
        must("ip route add default via 10.0.1.3 table 7");
    }
    [[nodiscard]] Arrivals comesOut(const Frame& made, unsigned port) const override {
        return port == 1 && marked_ ? toOther(made) : routedTo(made, port);
    }
    static Arrivals toOther(const Frame& frame) {
        return {{1, {oneHopFurther(frame, station(other), portMac(1))}}};
    }
    void openByMark(const std::string& rules) {
        must("ip rule add fwmark 1 lookup 7");
        open(rules);
    }
    void neverBecomesFast() {
        EXPECT_FALSE(eventually(
            [&] {
                pump();
                return pass(0, {.flags = psh | ack, .payload = 50}).fast > 0 || HasFailure();
            },
            std::chrono::seconds(2)));
    }

    bool marked_ = true;
};

TEST_F(MarkedTcp, IsLinuxsWhereWhatIsInvalidGoesElsewhere) {
    openByMark(fmt::format("{}{}", pass_, marks_));
    neverBecomesFast();
    const auto invalid = frame(0, outOfWindow);
    EXPECT_EQ(treat(invalid).out, routedTo(invalid));
}

TEST_F(MarkedTcp, IsFastWhereWhatIsInvalidIsDroppedFirst) {
    openByMark(fmt::format("{}{}{}", pass_, early_, marks_));
    becomesFast();
    expectSlow(0, outOfWindow, "flow-window", false);
    EXPECT_EQ(pass(0, {.payload = 10}), fastPath());
    EXPECT_EQ(pass(1, {}), fastPath());
}

TEST_F(MarkedTcp, IsFastWhereNothingIsInvalid) {
    for (const char* setting : {"be_liberal", "ignore_invalid_rst"})
        sysctl(fmt::format("net.netfilter.nf_conntrack_tcp_{}", setting), "1");
    openByMark(fmt::format("{}{}", pass_, marks_));
    becomesFast();
    EXPECT_EQ(pass(0, outOfWindow).fast, 1U);
    sysctl("net.netfilter.nf_conntrack_tcp_be_liberal", "0");
    EXPECT_EQ(pass(0, {.payload = 10}), slowPath("marked"));
}

/// Connection tracking does not mind the windows any more.
TEST_F(MarkedTcp, WhatIsInvalidGoesNowhereOnceItHasAMark) {
    marked_ = false;
    open(fmt::format(
        "{}chain marks {{ type filter hook prerouting priority -140; iif p0 meta mark set ct mark;"
        " }}; }}",
        pass_));
    becomesFast();
    must("ip rule add fwmark 1 lookup 7");
    const auto invalid = frame(0, outOfWindow);
    EXPECT_EQ(treat(invalid).out, Arrivals{}) << "it may have a mark";
    ASSERT_EQ(markConnection(connection_, 1), 0);
    EXPECT_EQ(treat(invalid).out, Arrivals{});
    marked_ = true;
    neverBecomesFast();
}

/// Without its connection, it has the mark that all have.
TEST_F(MarkedTcp, WhatIsInvalidGoesNowhereAlsoWhereOthersHaveNoMark) {
    marked_ = false;
    open(fmt::format(
        "{}chain first {{ type filter hook prerouting priority -300; iif p0 tcp dport 5000 meta mark"
        " set 1; }}; chain marks {{ type filter hook prerouting priority -140; iif p0 meta mark set ct"
        " mark; }}; }}",
        pass_));
    becomesFast();
    must("ip rule add fwmark 1 lookup 7");
    EXPECT_EQ(treat(frame(0, outOfWindow)).out, Arrivals{});
}

/// Of marks that packets get behind routing, nobody but rules hears before they end there.
TEST_F(MarkedTcp, IsFastWhereWhatIsInvalidIsMarkedAndDroppedBehindRouting) {
    marked_ = false;
    open("table ip guard { chain marks { type filter hook forward priority -150; meta mark set 0x10; };"
         " chain forward { type filter hook forward priority 0; ct state established accept;"
         " ct state invalid drop; }; }");
    becomesFast();
    expectSlow(0, outOfWindow, "flow-window", false);
    EXPECT_EQ(pass(0, {.payload = 10}), fastPath());
    EXPECT_EQ(pass(1, {}), fastPath());
}

} // namespace
} // namespace tna::test
