// SPDX-License-Identifier: Apache-2.0
// All fast-path modules that there are, as tna/constants.h lists them.
#include "assemble/manifest.hpp"

#include <array>

namespace tna::assemble {

#define TNA_DECLARE_MANIFEST(constant, name) Manifest name##Manifest();
TNA_FAST_PATH_MODULES(TNA_DECLARE_MANIFEST)
#undef TNA_DECLARE_MANIFEST

std::span<const Manifest> manifests() {
#define TNA_MANIFEST(constant, name) name##Manifest(),
    static const std::array all{TNA_FAST_PATH_MODULES(TNA_MANIFEST)};
#undef TNA_MANIFEST
    return all;
}

} // namespace tna::assemble
