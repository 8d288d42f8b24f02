// SPDX-License-Identifier: Apache-2.0
#include "tcp_state.hpp"

namespace tna::nat64 {

namespace {
constexpr std::uint8_t fin = 1, syn = 2, rst = 4;

TcpStep keep(TcpState state, Patience patience) {
    return {state, patience, true};
}
TcpStep established(TcpState state) {
    return keep(state, Patience::tcpEstablished);
}
TcpStep transitory(TcpState state) {
    return keep(state, Patience::tcpTransitory);
}

TcpStep afterFirst(TcpState state, Side from, std::uint8_t flags) {
    const auto beginner = state == TcpState::begunBy6 ? Side::six : Side::four;
    if ((flags & syn) == 0)
        return {state, Patience::tcpTransitory, false};
    return from == beginner ? transitory(state) : established(TcpState::established);
}
} // namespace

bool beginsConnection(std::uint8_t flags) {
    return (flags & syn) != 0 && (flags & rst) == 0;
}

TcpStep afterPacket(TcpState state, Side from, std::uint8_t flags) {
    switch (state) {
    case TcpState::begunBy4:
    case TcpState::begunBy6:
        return afterFirst(state, from, flags);
    case TcpState::established:
        if ((flags & fin) != 0)
            return established(from == Side::four ? TcpState::finishedBy4 : TcpState::finishedBy6);
        if ((flags & rst) != 0)
            return transitory(TcpState::transitory);
        return established(state);
    case TcpState::finishedBy4:
    case TcpState::finishedBy6: {
        const auto first = state == TcpState::finishedBy4 ? Side::four : Side::six;
        if ((flags & fin) != 0 && from != first)
            return transitory(TcpState::finished);
        return established(state);
    }
    case TcpState::transitory:
        return (flags & rst) != 0 ? TcpStep{state, Patience::tcpTransitory, false}
                                  : established(TcpState::established);
    case TcpState::finished:
        break;
    }
    return {state, Patience::tcpTransitory, false};
}

} // namespace tna::nat64
