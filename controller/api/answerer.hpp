// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/line_sink.hpp"
#include "api/peer.hpp"

#include <memory>
#include <string>

namespace tna::api {

/// Lines that follow an answer for as long as both sides want.
struct Stream {
    std::shared_ptr<LineSink> lines;
    std::shared_ptr<void> source; ///< writes them until it is destroyed, which may take a moment
};

struct Answer {
    std::string bytes;
    bool close = true; ///< the connection, afterwards
    Stream stream = {};
};

/// Turns whole requests into whole answers; it neither waits for those who ask nor for those who read.
class Answerer {
public:
    virtual ~Answerer() = default;
    /// Called from several threads. A body that is longer than largestBody() is left out.
    virtual Answer answer(const Peer& peer, const std::string& request) = 0;
    [[nodiscard]] virtual std::size_t largestBody(const Peer& peer) const = 0;
    /// Whether somebody may do more than look: for them there are places that others do not get.
    [[nodiscard]] virtual bool mayChange(const Peer& peer) const = 0;
};

} // namespace tna::api
