// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace tna::bench {

/// What is on or off in a configuration of AF_XDP.
enum class Knob {
    zeroCopy,      ///< the driver writes into the socket's memory
    busyPoll,      ///< the driver works when the application calls, on the application's processor
    needWakeup,    ///< the kernel says when it wants a system call
    pollForwarder, ///< the forwarder waits in poll(2)
    pollReceiver,  ///< the prober does
    deepIdle,      ///< processors may sleep deeply
    rxCoalescing,  ///< the device waits before it tells of frames that came
    txCoalescing,  ///< or that went out
};

struct KnobWords {
    Knob knob;
    std::string_view name; ///< in files
    std::string_view words;
};

constexpr std::array<KnobWords, 8> knobs{{{Knob::zeroCopy, "zero_copy", "zero-copy"},
                                          {Knob::busyPoll, "busy_poll", "busy polling"},
                                          {Knob::needWakeup, "need_wakeup", "need_wakeup"},
                                          {Knob::pollForwarder, "poll_forwarder", "poll() in the forwarder"},
                                          {Knob::pollReceiver, "poll_receiver", "poll() in the receiver"},
                                          {Knob::deepIdle, "deep_idle", "deep C-states"},
                                          {Knob::rxCoalescing, "rx_coalescing", "coalescing of what comes"},
                                          {Knob::txCoalescing, "tx_coalescing", "coalescing of what goes"}}};

/// A configuration: a bit for each knob.
struct Settings {
    unsigned bits = 0;
    [[nodiscard]] constexpr bool has(Knob knob) const {
        return (bits >> static_cast<unsigned>(knob) & 1U) != 0;
    }
    constexpr void set(Knob knob, bool on) {
        const unsigned bit = 1U << static_cast<unsigned>(knob);
        bits = on ? bits | bit : bits & ~bit;
    }
    bool operator==(const Settings&) const = default;
};

/// What libraries choose if nobody says anything; the one that is measured twice.
[[nodiscard]] constexpr Settings usualSettings() {
    Settings usual;
    for (const Knob knob : {Knob::needWakeup, Knob::deepIdle, Knob::rxCoalescing, Knob::txCoalescing})
        usual.set(knob, true);
    return usual;
}

/// What this machine and its device cannot be told, and why.
struct MissingKnob {
    Knob knob;
    std::string reason;
};

/// Every combination of what can be told; the rest is as usual.
[[nodiscard]] std::vector<Settings> combinations(const std::vector<MissingKnob>& missing);

} // namespace tna::bench
