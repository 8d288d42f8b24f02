// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/peer.hpp"
#include "functions/declaration.hpp"

namespace tna::daemon {

/// Whether the declaration lets a process of this peer connect. It asks the name service, which may take its
/// time: not for who has the controller's lock.
[[nodiscard]] bool mayConnect(const functions::Declaration& declared, const api::Peer& peer);

} // namespace tna::daemon
