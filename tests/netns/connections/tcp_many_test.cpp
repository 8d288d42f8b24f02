// SPDX-License-Identifier: Apache-2.0
// More connections of TCP than there is room for. Linux minds no windows of those that have been fast, so
// these must not be forgotten for others; and those that are gone make room.
#include "tcp_fixture.hpp"

#include <netinet/in.h>

namespace tna::test {
namespace {

class ManyTcp : public Tcp {
protected:
    static constexpr unsigned room = 64;

    void SetUp() override {
        Tcp::SetUp();
        config_.limits.connections = room;
    }
    [[nodiscard]] Connection ends(unsigned host) const override {
        Connection ends{.fromPort = port_, .protocol = IPPROTO_TCP};
        if (host == 1) {
            std::swap(ends.from, ends.to);
            std::swap(ends.fromPort, ends.toPort);
        }
        return ends;
    }
    /// Another connection, which would be fast, if there is room for it.
    void openAnother() {
        port_++;
        shakeHands();
        for (unsigned i = 0; i < 2; i++) {
            pass(0, {.flags = psh | ack, .payload = 50});
            pass(1, {});
        }
    }
    static std::uint16_t firstPort() { return Connection{}.fromPort; }

    std::uint16_t port_ = firstPort();
};

TEST_F(ManyTcp, WindowsOfThoseThatAreFastAreNotForgottenForOthers) {
    open();
    becomesFast();
    const auto first = hosts_;
    for (unsigned i = 0; i < 4 * room; i++)
        openAnother();
    const auto last = hosts_;
    const auto lastPort = port_;
    // Out of the windows, of the first one and of the last one, for which there was no room.
    hosts_ = first;
    port_ = firstPort();
    EXPECT_EQ(treat(frame(0, {.payload = 10, .ahead = 1000000})).out, Arrivals{});
    EXPECT_EQ(treat(frame(0, {.flags = rst | ack, .ahead = 1000000})).out, Arrivals{});
    becomesFast();
    hosts_ = last;
    port_ = lastPort;
    EXPECT_EQ(treat(frame(0, {.payload = 10, .ahead = 1000000})).out, Arrivals{});
    pass(0, {.payload = 10});
}

TEST_F(ManyTcp, MakeRoomWhenTheyAreGone) {
    open();
    for (unsigned i = 0; i < 2 * room; i++)
        openAnother();
    for (auto port = firstPort(); port <= port_; port++)
        (void)removeConnection({.fromPort = port, .protocol = IPPROTO_TCP});
    port_++;
    shakeHands();
    becomesFast();
}

} // namespace
} // namespace tna::test
