// SPDX-License-Identifier: Apache-2.0
// All fast-path modules that there are.
#include "assemble/modules/bridge.hpp"
#include "assemble/modules/route.hpp"

#include <array>

namespace tna::assemble {

std::span<const Manifest> manifests() {
    static const std::array all{bridgeManifest(), routeManifest()};
    return all;
}

} // namespace tna::assemble
