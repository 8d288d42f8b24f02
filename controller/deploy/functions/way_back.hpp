// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/functions/steering.hpp"

#include <memory>
#include <optional>
#include <tna/steer.h>
#include <vector>

namespace tna::deploy {

/// The way back to Linux for frames that network functions have had (fpm/steer/back.bpf.c). It goes with the
/// device, not with this: functions have sockets there, whose frames nobody else is to receive.
class WayBack {
public:
    /// At the device where such frames come out.
    [[nodiscard]] static Result<WayBack> attach(unsigned ifindex, const Steering& steering);

    /// What has this mark is of this function, and may come in by these ports and no others.
    [[nodiscard]] Result<void> allow(unsigned mark, unsigned function,
                                     const std::vector<unsigned>& ports) const;
    void forbid(unsigned mark) const;

    /// Lets functions receive at the device that they send into, which what others give on goes back to. It
    /// stays there.
    [[nodiscard]] Result<void> letReceive(unsigned ifindex);
    /// What comes in by this port and is given on to this function: which socket has it, and what the
    /// function calls the port. Nothing: nobody has it.
    void setTaker(const tna_back_taker_key& key, const std::optional<tna_back_taker>& taker) const;

private:
    using Skeleton = std::unique_ptr<void, void (*)(void*)>;
    explicit WayBack(Skeleton skeleton) : skeleton_(std::move(skeleton)) {}
    [[nodiscard]] int map(const char* name) const;
    Skeleton skeleton_;
    bool receives_ = false;
};

} // namespace tna::deploy
