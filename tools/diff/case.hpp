// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "diff/frame.hpp"

#include <string>
#include <variant>
#include <vector>

namespace tna::diff {

/// Words for a shell in each world; or for the worlds themselves, see Directive.
struct Command {
    std::string words;
    bool operator==(const Command&) const = default;
};

/// What no command can say, or not for both worlds. In scripts: "@verb port argument".
struct Directive {
    enum class Verb {
        follow,  ///< the fast path's daemon takes in what was announced
        start,   ///< it starts (it does before the first packet, if nobody says so)
        stop,    ///< it stops
        carrier, ///< a port loses its carrier, or has it back: on or off
        capture, ///< somebody captures on a port, or ends: on or off
        listen,  ///< somebody listens there for what is for a DHCP client, or ends: on or off
        entry,   ///< of connection tracking: as the words say, see entries.hpp
        wait,    ///< so many milliseconds, which the words say
    };
    Verb verb;
    std::string port;
    bool on = false;
    std::string words{};
    bool operator==(const Directive&) const = default;
};

/// A frame that arrives at a port.
struct Packet {
    unsigned port;
    Frame frame;
    bool operator==(const Packet&) const = default;
};

using Step = std::variant<Command, Directive, Packet>;

/// What both worlds go through.
struct Case {
    std::vector<std::string> ports = {"p0", "p1", "p2", "p3"};
    /// The daemon follows when it is told to, not after each command.
    bool lazy = false;
    unsigned flowsPerCpu = 64;
    unsigned connections = 0; ///< that the fast path learns where packets pass rules
    std::vector<Step> steps;
    bool operator==(const Case&) const = default;
};

/// A case as a file for people: commands line by line, and "@packets N" where the next N frames of the packet
/// file are sent. The frames themselves come in `packets`.
[[nodiscard]] std::string scriptOf(const Case& what);
/// Frames that no line sends are sent at the end.
[[nodiscard]] Result<Case> caseOf(const std::string& script, const std::vector<Packet>& packets);
/// The ports that a script names, before any frame can be read for them.
[[nodiscard]] Result<std::vector<std::string>> portsOf(const std::string& script);

[[nodiscard]] std::string text(const Directive& directive);

} // namespace tna::diff
