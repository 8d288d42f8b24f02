// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "model/network.hpp"

#include <set>
#include <string>

namespace tna::bench {

/// Interfaces of this machine that are cabled to a machine under test; used as they are, so that nothing has
/// to be put back.
struct Cabling {
    std::string tx; ///< frames are sent by it; empty: everything happens between namespaces
    std::string rx; ///< and arrive at it
    std::string
        dut; ///< a command that has the machine forward as the contender does whose name follows; or none
    bool force = false;

    [[nodiscard]] bool cabled() const { return !tx.empty(); }
    /// Nobody is asked to forward in one way or the other.
    [[nodiscard]] bool bare() const { return dut == "none" || (cabled() && dut.empty()); }
};

/// What is wrong with the options alone; empty if nothing is.
[[nodiscard]] std::string problemWith(const Cabling& cabling);

/// Whether the interfaces, of the calling thread's network namespace, can carry frames of a size, and nobody
/// else uses them, unless forced.
[[nodiscard]] Result<void> checkInterfaces(const Cabling& cabling, unsigned largestFrame);

/// The rule behind it: why an interface is in use or useless; empty if it is free. `defaultRoutes` are the
/// names of interfaces that carry one.
[[nodiscard]] std::string problemWithInterface(const model::Network& network,
                                               const std::set<std::string>& defaultRoutes,
                                               const std::string& name, unsigned largestFrame, bool force);

/// Names of interfaces with a default route, of the texts of /proc/net/route and /proc/net/ipv6_route.
[[nodiscard]] std::set<std::string> defaultRoutesOf(const std::string& ipv4, const std::string& ipv6);

} // namespace tna::bench
