// SPDX-License-Identifier: Apache-2.0
// Connections of TCP, from the handshake to the end, with all that comes in between.
#include "diff/random/talk.hpp"

namespace tna::diff {

namespace {
using Bytes = std::vector<std::uint8_t>;

void add32(Bytes& bytes, std::uint32_t value) {
    for (unsigned shift = 32; shift > 0; shift -= 8)
        bytes.push_back(static_cast<std::uint8_t>(value >> (shift - 8)));
}
} // namespace

void TcpTalk::add(unsigned side, const Words& words) {
    const auto& from = end(side);
    Bytes bytes;
    add32(bytes, from.port << 16U | end(1 - side).port);
    add32(bytes, from.next + words.forward);
    add32(bytes, (words.flags & ack) != 0 ? from.acked + words.ackForward : 0);
    const auto header = static_cast<std::uint32_t>(5 + words.options.size() / 4);
    add32(bytes, header << 28U | words.flags << 16U | from.window);
    add32(bytes, (words.flags & urg) != 0 ? 1 : 0);
    bytes.insert(bytes.end(), words.options.begin(), words.options.end());
    for (std::size_t i = 0; i < words.size; i++)
        bytes.push_back(static_cast<std::uint8_t>(from.next + i));
    segments_.push_back({side, std::move(bytes)});
}

Bytes TcpTalk::stamp(const Bytes& more) {
    Bytes options = more;
    if (talk_.timestamps) {
        options.insert(options.end(), {1, 1, 8, 10});
        add32(options, ++talk_.clock);
        add32(options, talk_.clock - 1);
    }
    return options;
}

/// With the options that both ends agree on.
void TcpTalk::greet(unsigned side, unsigned flags) {
    auto& from = end(side);
    Bytes options{2, 4, 5, 0xb4};
    if (from.scale > 0)
        options.insert(options.end(), {1, 3, 3, static_cast<std::uint8_t>(from.scale)});
    if (talk_.sack)
        options.insert(options.end(), {1, 1, 4, 2});
    add(side, {.flags = flags, .options = stamp(options)});
}

std::vector<TcpTalk::Segment> TcpTalk::open() {
    for (unsigned side = 0; side < 2; side++) {
        end(side).next = chance_.once(4) ? 0xffffff00U + chance_.below(256) : chance_.number();
        end(side).window = chance_.oneOf<unsigned>({512, 0x2000, 0x4000, 0xffff});
        end(side).acked = 0;
    }
    talk_.phase = Phase::open;
    const auto sent = [&](unsigned side) { end(side).next++; };
    switch (chance_.below(12)) {
    case 0: // both at once
        greet(0, syn);
        greet(1, syn);
        sent(0);
        sent(1);
        for (unsigned side = 0; side < 2; side++) {
            catchUp(side);
            add(side, {.forward = 0, .options = stamp()});
        }
        break;
    case 1: // nobody answers, or not to the end
        for (unsigned i = chance_.below(3); i > 0; i--)
            greet(0, syn);
        if (chance_.once(2)) {
            sent(0);
            catchUp(1);
            greet(1, syn | ack);
        }
        talk_.phase = Phase::over;
        break;
    case 2: // in the middle, as after a restart
        catchUp(0);
        catchUp(1);
        break;
    case 3: // refused
        greet(0, syn);
        sent(0);
        catchUp(1);
        add(1, {.flags = rst | ack});
        talk_.phase = Phase::over;
        break;
    default:
        greet(0, chance_.once(6) ? syn | ece | cwr : syn);
        if (chance_.once(10))
            greet(0, syn);
        sent(0);
        catchUp(1);
        greet(1, syn | ack);
        if (chance_.once(10))
            greet(1, syn | ack);
        sent(1);
        catchUp(0);
        add(0, {.options = stamp()});
    }
    return std::move(segments_);
}

void TcpTalk::data(unsigned side) {
    const auto size = chance_.oneOf<std::size_t>({1, 10, 100, 536, 1200, 1448});
    for (unsigned count = 1 + chance_.below(4); count > 0; count--) {
        catchUp(side);
        add(side,
            {.flags = count == 1 || chance_.once(4) ? ack | psh : ack, .size = size, .options = stamp()});
        end(side).next += static_cast<std::uint32_t>(size);
        if (chance_.once(12)) // once more
            add(side, {.flags = ack,
                       .size = size,
                       .forward = 0U - static_cast<std::uint32_t>(size),
                       .options = stamp()});
    }
    if (!chance_.once(6)) {
        catchUp(1 - side);
        add(1 - side, {.options = stamp()});
    }
}

/// Nothing that is beyond the windows: what Linux makes of that depends on when tnad told it not to mind
/// them.
void TcpTalk::odd(unsigned side) {
    const auto& to = end(1 - side);
    switch (chance_.below(12)) {
    case 0: // before the window
        add(side, {.flags = ack | psh, .size = 100, .forward = 0U - (1U << 19U << chance_.below(11))});
        break;
    case 1:
        add(side, {.size = 100, .forward = 0U - (1U << 17U << chance_.below(13))});
        break;
    case 2: // acknowledges what was sent long ago
        add(side, {.ackForward = 0U - (70000U << chance_.below(10))});
        break;
    case 3: // is anybody there?
        add(side, {.size = chance_.below(2), .forward = 0U - 1, .options = stamp()});
        add(1 - side, {.options = stamp()});
        break;
    case 4: { // there is no more room, and there is again
        const auto window = end(side).window;
        end(side).window = chance_.below(2);
        add(side, {.options = stamp()});
        end(side).window = window;
        add(side, {.options = stamp()});
        break;
    }
    case 5: { // there is a gap
        Bytes gap{1, 1, 5, 10};
        add32(gap, to.next + 100);
        add32(gap, to.next + 200);
        add(side, {.options = stamp(gap)});
        break;
    }
    case 6: // flags that nobody sends
        add(side, {.flags = chance_.oneOf<unsigned>({0, fin, syn | fin, syn | rst, 0xff, psh, urg | ack,
                                                     ece | ack, cwr | ack, fin | psh | urg})});
        break;
    case 7: // the other one hears of it, and nothing comes any more
        add(side, {.flags = chance_.once(2) ? rst : rst | ack});
        talk_.phase = Phase::reset;
        break;
    case 8: // a greeting in the middle
        add(side, {.flags = syn, .forward = chance_.number()});
        break;
    case 9: // an answer to none
        add(side, {.flags = syn | ack});
        break;
    case 10: // options that end nowhere
        add(side, {.options = {chance_.byte(), chance_.byte(), chance_.byte(), 0}});
        break;
    default:
        end(side).window = chance_.below(0x10000);
    }
}

std::vector<TcpTalk::Segment> TcpTalk::goOn() {
    for (unsigned times = 1 + chance_.below(4); times > 0; times--) {
        const auto side = chance_.below(2);
        if (chance_.once(7))
            odd(side);
        else
            data(side);
        if (talk_.phase != Phase::open)
            break;
    }
    return std::move(segments_);
}

std::vector<TcpTalk::Segment> TcpTalk::close() {
    talk_.phase = Phase::over;
    const auto side = chance_.below(2);
    const auto finish = [&](unsigned which) {
        add(which, {.flags = fin | ack, .options = stamp()});
        end(which).next++;
    };
    catchUp(0);
    catchUp(1);
    switch (chance_.below(4)) {
    case 0:
        talk_.phase = Phase::reset;
        add(side, {.flags = chance_.once(2) ? rst : rst | ack});
        if (chance_.once(3)) // the other one does not know yet
            data(1 - side);
        return std::move(segments_);
    case 1: // both at once
        finish(0);
        finish(1);
        for (unsigned which = 0; which < 2; which++) {
            catchUp(which);
            add(which, {.options = stamp()});
        }
        return std::move(segments_);
    default:
        finish(side);
        catchUp(1 - side);
        add(1 - side, {.options = stamp()});
        if (chance_.once(3)) // one end has more to say
            data(1 - side);
        if (chance_.once(6)) // and never ends
            return std::move(segments_);
        finish(1 - side);
        catchUp(side);
        add(side, {.options = stamp()});
        return std::move(segments_);
    }
}

} // namespace tna::diff
