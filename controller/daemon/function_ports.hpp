// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "base/error.hpp"
#include "model/network.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tna::daemon {

/// Of the ports that network functions name, by name: those that are there and whose frames can be steered,
/// and why those of others that are there cannot.
struct FunctionPorts {
    std::map<std::string, unsigned> usable;
    std::map<std::string, std::string> against;
    bool operator==(const FunctionPorts&) const = default;
};
[[nodiscard]] FunctionPorts functionPorts(const std::vector<std::string>& names,
                                          const model::Network& network, const assemble::Plan& plan);

/// What there is against steering frames of one of these ports; nothing of those that are not there.
[[nodiscard]] std::optional<Error> whyNotSteered(const std::vector<std::string>& names,
                                                 const model::Network& network, const assemble::Plan& plan);

} // namespace tna::daemon
