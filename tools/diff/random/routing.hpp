// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/random/scenario.hpp"

namespace tna::diff {

/// A net that is routed, by which device, with its hosts.
struct RoutedNet {
    unsigned number;
    std::string device;
    Mac mac; ///< of the device
};

/// What makes a router, so that time decides nothing.
[[nodiscard]] std::vector<std::string> routerSettings();
/// For a device that is there: its addresses, and its hosts as neighbours that need not be asked for.
[[nodiscard]] std::string addressWords(const RoutedNet& net, const Topology& topology);
[[nodiscard]] std::vector<std::string> netSetup(const RoutedNet& net, const Topology& topology);

/// Changes of routers; `undo` is what takes one back, if anything does.
class Routing {
public:
    Routing(Chance& chance, Topology& topology, std::vector<RoutedNet> nets);
    [[nodiscard]] std::string route(std::string& undo);
    [[nodiscard]] std::string neighbour(std::string& undo);
    [[nodiscard]] std::string setting(std::string& undo);
    [[nodiscard]] std::string address(std::string& undo);
    [[nodiscard]] std::string rule(std::string& undo);

private:
    [[nodiscard]] std::string way(bool six);
    [[nodiscard]] std::string target(bool six);
    [[nodiscard]] Mac oddMac();
    [[nodiscard]] const RoutedNet& net() { return nets_[chance_.below(nets_.size())]; }

    Chance& chance_;
    Topology& topology_;
    std::vector<RoutedNet> nets_;
};

} // namespace tna::diff
