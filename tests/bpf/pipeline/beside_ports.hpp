// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/modules/bridge.hpp"
#include "assemble/modules/route.hpp"
#include "capability/kernel.hpp"
#include "deploy/load_fast_path.hpp"

#include <memory>
#include <net/if.h>
#include <string_view>
#include <tna/fastpath.h>

namespace tna::test {

/// A fast path that knows the ports p0, p1 and p2 of this namespace, and is attached to none of them. Frames
/// that are shorter than `shortest` may not leave by p1.
inline Result<std::unique_ptr<deploy::FastPath>> loadBesidePorts(unsigned shortest = 0) {
    auto probe = deploy::KernelProbe::load();
    if (!probe)
        return std::unexpected(probe.error());
    const auto facts = probe->readNamespace();
    if (!facts)
        return std::unexpected(facts.error());
    const auto kernel = capability::probeKernel();
    if (!kernel)
        return std::unexpected(kernel.error());
    auto loaded = deploy::loadFastPath({16, 256}, *facts, kernel->hookFunctions, probe->casts());
    if (!loaded)
        return loaded;
    for (const char* port : {"p0", "p1", "p2"})
        if (auto known =
                (*loaded)->ports().add(::if_nametoindex(port), port == std::string_view("p1") ? shortest : 0);
            !known)
            return std::unexpected(known.error());
    return loaded;
}

} // namespace tna::test
