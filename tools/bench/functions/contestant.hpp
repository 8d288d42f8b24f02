// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/functions/far_side.hpp"

#include <memory>
#include <string>

namespace tna::bench {

/// Who sends frames back, with their addresses swapped, for as long as it lives.
class Contestant {
public:
    virtual ~Contestant() = default;
    /// Why frames may not come back.
    [[nodiscard]] virtual std::string complaint() { return {}; }
};

/// What all contestants are made of.
struct Contest {
    const FarSide& side;
    std::string tnad;
    std::string workload; ///< the file of tna-workload
    unsigned cpu = 0;     ///< where what runs in user space is to run
};

/// linux: a program with an ordinary packet socket.
[[nodiscard]] Result<std::unique_ptr<Contestant>> startPacketSocket(const Contest& contest);
/// xdp: in the kernel, by XDP_TX.
[[nodiscard]] Result<std::unique_ptr<Contestant>> startXdp(const Contest& contest);
/// tna-workload and tnad, which sleeps in poll() or does not.
[[nodiscard]] Result<std::unique_ptr<Contestant>> startFunction(const Contest& contest, bool busy);

} // namespace tna::bench
