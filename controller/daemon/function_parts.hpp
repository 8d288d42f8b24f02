// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.hpp"
#include "deploy/functions/xdp_sockets.hpp"
#include "deploy/kernel/presence.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tna::daemon {

/// What a process that connects as a network function is to get.
struct FunctionPlan {
    /// A queue of the way back that is nobody's; a process of the user may have kept the socket that it had.
    struct BackQueue {
        unsigned queue = 0;
        bool hadByUser = false;
    };
    functions::Declaration declared;
    unsigned number = 0;
    std::vector<unsigned> ports; ///< in the function's own order; 0: it is not there
    std::vector<deploy::QueueOfPort> bound;
    unsigned backIfindex = 0; ///< 0: there is no way back
    bool takesOn = false;     ///< it receives what others give on, where it gives back
    std::vector<BackQueue> backQueues;
    bool givesBack = false; ///< it is of no use without a way back
    bool operator==(const FunctionPlan& other) const {
        return declared == other.declared && number == other.number && ports == other.ports &&
               backIfindex == other.backIfindex && takesOn == other.takesOn;
    }
};

/// The memory, the sockets and their pages: what takes time, as the kernel locks memory and waits for others
/// that change the network. It is made for a plan, and may turn out to be of no use: plans change.
struct FunctionParts {
    deploy::XdpSockets made;
    std::vector<deploy::QueueOfPort> bound; ///< of each socket
    std::vector<UniqueFd> pages;            ///< of each socket
    std::optional<unsigned> backQueue;      ///< of the way back, whose socket is the last one
    /// Of the ports, since before sockets were bound. The kernel unbinds those of a port that goes to another
    /// namespace, and what is given to them is lost, also when the port is back.
    std::vector<deploy::Presence> presences;
};

[[nodiscard]] Result<FunctionParts> makeParts(const FunctionPlan& plan);

} // namespace tna::daemon
