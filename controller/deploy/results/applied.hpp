// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "model/link.hpp"

#include <map>

namespace tna::deploy {

/// What putting a plan in place has done.
struct Applied {
    unsigned attached = 0;
    unsigned detached = 0;
    unsigned swapped = 0; ///< profiles put in place or taken away
    std::map<model::IfIndex, Error> failures;
    std::map<model::IfIndex, Error> onlyAtXdp; ///< what was to be at tcx as well, and why it is not
};

} // namespace tna::deploy
