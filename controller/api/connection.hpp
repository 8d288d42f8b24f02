// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/answerer.hpp"
#include "base/unique_fd.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace tna::api {

/// A connection with somebody who asks: what it is at, and for how long.
struct Connection {
    using Clock = std::chrono::steady_clock;
    enum class State {
        receiving,
        answering, ///< what was asked has its turn, or waits for it
        sending,
        streaming,
        draining,
    };
    UniqueFd fd;
    Peer peer;
    bool mayChange = false;
    State state = State::receiving;
    Clock::time_point since;    ///< of the last answer, or of the beginning
    Clock::time_point deadline; ///< of what it waits for
    std::string in;
    std::string out;
    std::size_t reserved = 0; ///< of the room that all bodies share
    bool looks = true;        ///< what was asked changes nothing
    std::size_t drained = 0;  ///< of a body that nobody reads
    bool closeAfterwards = false;
    bool refused = false; ///< because of its body, which may be on its way still
    bool continued = false;
    Stream stream;

    /// What poll() is to wait for; that somebody has hung up is told in any case.
    [[nodiscard]] short awaited() const;
    /// Takes what there is. The following are false where the connection is at its end.
    [[nodiscard]] bool pull();
    /// Gives what the other side takes at once.
    [[nodiscard]] bool push();
    /// Takes what nobody reads, so that who sends it comes to reading the refusal.
    [[nodiscard]] bool drain();
};

/// By numbers that are not used again.
using Connections = std::map<std::uint64_t, Connection>;

} // namespace tna::api
