// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/peer.hpp"
#include "functions/declaration.hpp"

#include <string>
#include <vector>

namespace tna::daemon {

/// Whether the declaration lets a process of this peer connect. It asks the name service, which may take its
/// time: not for who has the controller's lock.
[[nodiscard]] bool mayConnect(const functions::Declaration& declared, const api::Peer& peer);
/// Of these, who is not known to this machine (yet), in words. It may take its time, too.
[[nodiscard]] std::vector<std::string> unknownAmong(const std::vector<std::string>& users,
                                                    const std::vector<std::string>& groups);

} // namespace tna::daemon
