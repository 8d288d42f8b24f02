// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "functions/declaration.hpp"

#include <string>
#include <vector>

namespace tna::deploy {

/// Where a socket is to be bound.
struct QueueOfPort {
    unsigned ifindex = 0;
    std::string name;
    unsigned queue = 0;
    unsigned mark = 0;    ///< of what is sent by it; 0: none
    bool receives = true; ///< else, frames are only sent by it (of the way back: what others give on)
    bool wasLeft = false; ///< just now by somebody else, whose socket the kernel may still have there
};

struct XdpSocket {
    UniqueFd fd;
    bool zeroCopy = false;
};

/// Memory for frames, and sockets that share it, for a process that needs no capability to use them.
struct XdpSockets {
    UniqueFd memory; ///< of declared.frames frames
    std::vector<XdpSocket> sockets;
};

/// In the network namespace of the calling thread. All of them, or an error that says what is against it.
[[nodiscard]] Result<XdpSockets> makeXdpSockets(const functions::Declaration& declared,
                                                const std::vector<QueueOfPort>& queues);

/// One more that shares the memory. Where that cannot be, nothing is different.
[[nodiscard]] Result<void> addXdpSocket(XdpSockets& made, const functions::Declaration& declared,
                                        const QueueOfPort& queue);

} // namespace tna::deploy
