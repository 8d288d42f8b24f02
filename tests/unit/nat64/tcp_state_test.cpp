// SPDX-License-Identifier: Apache-2.0
// The table of RFC 6146, 3.5.2.2.
#include "tcp_state.hpp"

#include <gtest/gtest.h>

namespace tna::nat64 {
namespace {

constexpr std::uint8_t data = 0x10, fin = 0x11, syn = 0x02, synAck = 0x12, rst = 0x04;

struct Row {
    TcpState before;
    Side from;
    std::uint8_t flags;
    TcpState after;
    Patience patience;
    bool refresh;
};

TEST(TcpStates, FollowTheTable) {
    using enum TcpState;
    using enum Patience;
    const Row rows[]{
        {begunBy6, Side::six, syn, begunBy6, tcpTransitory, true},
        {begunBy6, Side::four, synAck, established, tcpEstablished, true},
        {begunBy6, Side::four, rst, begunBy6, tcpTransitory, false},
        {begunBy6, Side::six, data, begunBy6, tcpTransitory, false},
        {begunBy4, Side::four, syn, begunBy4, tcpTransitory, true},
        {begunBy4, Side::six, synAck, established, tcpEstablished, true},
        {begunBy4, Side::four, data, begunBy4, tcpTransitory, false},
        {established, Side::six, data, established, tcpEstablished, true},
        {established, Side::four, fin, finishedBy4, tcpEstablished, true},
        {established, Side::six, fin, finishedBy6, tcpEstablished, true},
        {established, Side::six, rst, transitory, tcpTransitory, true},
        {established, Side::four, rst, transitory, tcpTransitory, true},
        {finishedBy4, Side::four, data, finishedBy4, tcpEstablished, true},
        {finishedBy4, Side::four, fin, finishedBy4, tcpEstablished, true},
        {finishedBy4, Side::six, fin, finished, tcpTransitory, true},
        {finishedBy6, Side::four, fin, finished, tcpTransitory, true},
        {finishedBy6, Side::four, data, finishedBy6, tcpEstablished, true},
        {finished, Side::four, data, finished, tcpTransitory, false},
        {finished, Side::six, syn, finished, tcpTransitory, false},
        {transitory, Side::six, data, established, tcpEstablished, true},
        {transitory, Side::six, rst, transitory, tcpTransitory, false},
    };
    for (const auto& row : rows) {
        const auto step = afterPacket(row.before, row.from, row.flags);
        const auto which = static_cast<std::size_t>(&row - rows);
        EXPECT_EQ(step.state, row.after) << which;
        EXPECT_EQ(step.refresh, row.refresh) << which;
        if (row.refresh) {
            EXPECT_EQ(step.patience, row.patience) << which;
        }
    }
    EXPECT_TRUE(beginsConnection(syn));
    EXPECT_FALSE(beginsConnection(data));
    EXPECT_FALSE(beginsConnection(rst | syn));
}

} // namespace
} // namespace tna::nat64
