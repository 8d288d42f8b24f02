// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/peer.hpp"

#include <httplib.h>

namespace tna::api {

/// A server on a Unix socket that knows who asks, and gives each request a time as a whole.
class PeerServer : public httplib::Server {
public:
    /// Whose request this thread is answering.
    [[nodiscard]] static const Peer& peer();

private:
    bool process_and_close_socket(socket_t socket) override;
    [[nodiscard]] bool awaitRequest(const httplib::Stream& connection) const;
};

} // namespace tna::api
