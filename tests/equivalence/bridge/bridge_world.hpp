// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "world.hpp"

namespace tna::test {

/// A bridge with four ports.
class BridgeWorld : public World {
public:
    static constexpr bool watchable = true;

    BridgeWorld();
    /// Until what each port gets comes out at all others.
    [[nodiscard]] bool opens(const Fence& fence) const;
    /// The stations that the bridge knows, and where.
    [[nodiscard]] std::vector<std::string> memory() const;
};

} // namespace tna::test
