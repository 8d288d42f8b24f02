// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <memory>
#include <tna/steer.h>
#include <vector>

namespace tna::deploy {

/// The way back to Linux for frames that network functions have had (fpm/steer/back.bpf.c). It goes with the
/// device, not with this: functions have sockets there, whose frames nobody else is to receive.
class WayBack {
public:
    /// At the device where such frames come out.
    [[nodiscard]] static Result<WayBack> attach(unsigned ifindex);

    /// What has this mark may come in by these ports, and no others.
    [[nodiscard]] Result<void> allow(unsigned mark, const std::vector<unsigned>& ports) const;
    void forbid(unsigned mark) const;

private:
    using Skeleton = std::unique_ptr<void, void (*)(void*)>;
    WayBack(Skeleton skeleton, int ports) : skeleton_(std::move(skeleton)), ports_(ports) {}
    Skeleton skeleton_;
    int ports_;
};

} // namespace tna::deploy
