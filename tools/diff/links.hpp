// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "diff/frame.hpp"

namespace tna::diff {

/// A link, as far as waiting for it is concerned.
struct Link {
    Mac mac{};
    bool noticed = true; ///< its state is what its carrier says, which the kernel looks at in the background
};

/// Of the calling thread's namespace.
[[nodiscard]] Result<std::vector<Link>> readLinks();

} // namespace tna::diff
