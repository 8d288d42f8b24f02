// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "world.hpp"

namespace tna::test {

/// A router with four ports: pN has 10.0.N.1/24 and fd00:0:0:N::1/64 and knows two hosts behind it, .2 and
/// .3, as stations 2 N and 2 N + 1.
class RouterWorld : public World {
public:
    static constexpr bool watchable = false;

    RouterWorld();
    /// Until packets of both protocols come out from each port at the next one.
    [[nodiscard]] bool opens(const Fence& fence) const;
    /// As World::send(), for ports that are up: the far end may not have noticed yet.
    [[nodiscard]] int send(unsigned port, const Frame& frame) const;
    /// Without what comes when it likes, or now and then only: questions for neighbours, reports, and some
    /// complaints to senders. What a router counts for itself is set to 0.
    [[nodiscard]] Arrivals arrivals() const;
    /// Routers learn nothing from what they forward.
    [[nodiscard]] static std::vector<std::string> memory() { return {}; }

    [[nodiscard]] static Mac portMac(unsigned port);
    [[nodiscard]] static std::string address(int version, unsigned port, unsigned host);
    /// What a port is set to when it comes up.
    [[nodiscard]] static std::string configuration(unsigned port);
};

} // namespace tna::test
