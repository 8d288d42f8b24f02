// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.hpp"

#include <vector>

namespace tna::deploy {

/// The programs that are attached to ports: they outlive a fast path, and changing them is prepared.
class AttachedPrograms {
public:
    virtual ~AttachedPrograms() = default;

    /// What is attached, for another fast path or process to go on with: it stays attached, as drivers may
    /// stop their queues to make room for XDP. Until it is taken up, all is left to Linux.
    [[nodiscard]] virtual std::vector<UniqueFd> handOver() = 0;
    /// Takes it; what the next plan has no use for is detached then.
    virtual void inherit(std::vector<UniqueFd> links) = 0;

    /// Whether changing the profile of any port is fast by now; if not, settleNext() does more for it, by
    /// giving one more port an entry program of its own.
    [[nodiscard]] virtual bool settled() const = 0;
    virtual void settleNext() = 0;
};

} // namespace tna::deploy
