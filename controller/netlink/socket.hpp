// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "netlink/attributes.hpp"
#include "netlink/request.hpp"

#include <functional>
#include <memory>
#include <vector>

struct mnl_socket;

namespace tna::netlink {

using MessageHandler = std::function<void(const Message&)>;
/// Says whether it wants more.
using MessageVisitor = std::function<bool(const Message&)>;

/// A netlink socket: it stays in the network namespace where it was opened, whatever its thread does later.
class Socket {
public:
    /// `receiveBuffer` 0 leaves the system's default.
    [[nodiscard]] static Result<Socket> open(int protocol, std::size_t receiveBuffer = 0);

    /// Subscribes to multicast groups; a group that the kernel does not know is an error.
    [[nodiscard]] Result<void> join(const std::vector<unsigned>& groups);

    struct Outcome {
        int error = 0;            ///< errno of the kernel's answer
        bool interrupted = false; ///< NLM_F_DUMP_INTR: the table changed while it was dumped
    };
    /// Sends a request and hands over each message of its answer.
    [[nodiscard]] Outcome exchange(Request& request, const MessageHandler& handler);
    /// The same until no more is wanted; what is left of the answer is passed over by the next request.
    [[nodiscard]] Outcome exchangeUntil(Request& request, const MessageVisitor& visitor);

    /// Dumps until one pass was not interrupted, a few times at most; the last pass stands, because whoever
    /// dumps also listens, and what changed is announced. `restart` comes before each pass.
    [[nodiscard]] Outcome dump(Request& request, const std::function<void()>& restart,
                               const MessageHandler& handler);

    /// Begins a dump that is read by step(). Nothing else is asked by this socket before it is done. Returns
    /// the errno.
    [[nodiscard]] int begin(Request& request);
    struct Step {
        int error = 0;     ///< errno
        bool done = false; ///< there is no more
    };
    /// Hands over what one read takes, some hundred messages.
    [[nodiscard]] Step step(const MessageHandler& handler);

    struct Drained {
        bool any = false;  ///< there were messages, or some were lost
        bool lost = false; ///< messages were lost; those that waited are older, and were thrown away
        bool rest = false; ///< messages wait still; where some were lost, more may be, without a word
    };
    /// Hands over the messages that wait, without blocking. From a loss on the kernel drops all messages, but
    /// tells of the first one only, until the queue is empty: what is read before that is not complete.
    [[nodiscard]] Drained drain(const MessageHandler& handler);

    [[nodiscard]] int fd() const;

private:
    struct Closer {
        void operator()(mnl_socket* socket) const;
    };
    explicit Socket(mnl_socket* socket);

    std::unique_ptr<mnl_socket, Closer> socket_;
    std::vector<std::byte> buffer_;
    std::uint32_t sequence_ = 0;
    bool losing_ = false; ///< messages were lost, and the queue has not been empty since
};

/// Asks once, by a socket of its own, until no more is wanted. A table that has changed while it was dumped
/// is an error.
[[nodiscard]] Result<void> ask(int protocol, Request& request, const MessageVisitor& visitor);

} // namespace tna::netlink
