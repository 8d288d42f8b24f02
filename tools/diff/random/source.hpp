// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/case.hpp"

namespace tna::diff {

/// Where packets come from.
class Source {
public:
    virtual ~Source() = default;
    /// The next one; or something that belongs to packets, as time that passes between them.
    [[nodiscard]] virtual Step next() = 0;
};

} // namespace tna::diff
