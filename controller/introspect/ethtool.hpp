// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "model/link.hpp"

#include <optional>

namespace tna::introspect {

/// What only the ethtool ioctls tell about a link.
class Ethtool {
public:
    /// In the calling thread's network namespace, for good.
    [[nodiscard]] static Result<Ethtool> open();

    /// Fills in driver (where it is not known yet) and offloads; leaves them where the link is gone.
    void describe(model::Link& link) const;

private:
    explicit Ethtool(UniqueFd fd) : fd_(std::move(fd)) {}
    [[nodiscard]] bool hasFeature(const model::Link& link, std::optional<unsigned> bit) const;

    UniqueFd fd_;
    /// The number of a feature is the kernel's, the same for all links; nothing: not asked yet.
    mutable std::optional<std::optional<unsigned>> serviceTagReceive_;
};

} // namespace tna::introspect
