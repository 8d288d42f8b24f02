// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/assemble.hpp"
#include "config/config.hpp"
#include "daemon/custom_modules.hpp"
#include "daemon/observed.hpp"
#include "daemon/refused_ports.hpp"

#include <set>
#include <string>

namespace tna::daemon {

/// What the operator has paused.
struct Paused {
    bool all = false;
    std::set<std::string> ports; ///< by name, whether they are there or not
};

/// Pauses or resumes a port, or all if none is named. False if there is no such port; one that is none at
/// present can be resumed for when it is one again.
[[nodiscard]] bool pausePorts(Paused& all, const assemble::Plan& plan, const std::optional<std::string>& port,
                              bool paused);

/// The name of the custom module of our own that steers frames to network functions; nobody can call one so.
inline constexpr const char* steeringModule = "@functions";

/// What the operator wants, as it was said.
struct Wanted {
    config::Config config;
    Paused paused;
    CustomModules modules;
};

/// So many routes are many; nothing: none are.
[[nodiscard]] std::optional<unsigned> manyRoutes(const config::Config& config);

/// All that, matched against the links that there are.
[[nodiscard]] assemble::Wishes wishesFor(const model::Network& network, const Wanted& wanted,
                                         const Observed& observed, const RefusedPorts& refused,
                                         const deploy::DataPath& dataPath);

} // namespace tna::daemon
