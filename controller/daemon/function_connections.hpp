// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.hpp"
#include "daemon/function_parts.hpp"
#include "daemon/function_set.hpp"
#include "deploy/functions/steering.hpp"
#include "deploy/functions/way_back.hpp"
#include "model/network.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <sys/types.h>
#include <tna/function_protocol.h>
#include <utility>

namespace tna::daemon {

/// Who wants to be a network function.
struct FunctionCaller {
    uid_t user = 0;
    pid_t process = 0;
    int queue = TNA_FUNCTION_ALL_QUEUES;
    bool givesBack = false; ///< it is of no use without a way back
    UniqueFd control;       ///< its connection, to be ended by us
};

/// What is sent to it.
struct HandedOver {
    struct Part {
        tna_function_socket about{};
        std::vector<UniqueFd> descriptors;
    };
    std::uint64_t id = 0; ///< of its connection
    tna_function_answer answer{};
    std::vector<Part> parts;
};

/// The processes that have connected as network functions, each with its sockets. None of the sockets is held
/// here: they go when the process does, and the next frame is Linux's.
class FunctionConnections {
public:
    struct Socket {
        tna_steer_queue_key key{};
        unsigned place = 0;
        std::string port;
        bool zeroCopy = false;
        UniqueFd page;
    };
    struct Connection {
        std::string function;
        uid_t user = 0;
        pid_t process = 0;
        unsigned backQueue = 0; ///< of the way back; its mark is one more
        bool goesBack = false;
        bool takesOn = false;        ///< its last socket receives what others give on
        unsigned number = 0;         ///< of the function
        unsigned longest = 0;        ///< frame that fits into its memory
        std::vector<unsigned> ports; ///< in its own order
        std::vector<Socket> sockets;
        std::vector<deploy::Presence> presences; ///< of the ports
        [[nodiscard]] bool hasLostAPort() const;
        UniqueFd control;
    };

    /// Where frames go back to Linux, by the device that functions send them into; 0: there is no way back.
    void useWayBack(unsigned ifindex, const deploy::WayBack* way) {
        backIfindex_ = ifindex;
        wayBack_ = way;
    }

    /// What somebody is to get who connects now, or what is against it.
    [[nodiscard]] Result<FunctionPlan> plan(const FunctionSet::Function& function, bool takesOn,
                                            const FunctionCaller& caller,
                                            const model::Network& network) const;
    /// Connects what has been made for a plan that still is right: all of it, or nothing and a reason.
    [[nodiscard]] Result<HandedOver> open(const FunctionPlan& plan, FunctionParts parts,
                                          FunctionCaller caller, deploy::Steering& steering);
    void close(std::uint64_t id, deploy::Steering& steering);
    /// Ends those of a function: the processes see it, and may connect again.
    void end(const std::string& function, deploy::Steering& steering);
    /// The same of all that have the way back.
    void endThoseThatGiveBack(deploy::Steering& steering);
    /// Whether a port has gone since, if only for a moment.
    [[nodiscard]] bool anyLostAPort() const;
    /// Ends those of a function whose ports are others by now, or have been away, or that do not receive what
    /// others give on.
    void endOutdated(const FunctionSet::Function& function, bool takesOn, const model::Network& network,
                     deploy::Steering& steering);

    [[nodiscard]] const std::map<std::uint64_t, Connection>& all() const { return all_; }
    /// Frame that fits into the memory of all processes that are this function.
    [[nodiscard]] unsigned longest(const std::string& function) const;

private:
    using Clock = std::chrono::steady_clock;
    using Queue = std::pair<unsigned, unsigned>; ///< of an ifindex
    [[nodiscard]] std::optional<Error> obstacle(const FunctionSet::Function& function,
                                                const std::vector<unsigned>& ports,
                                                const std::vector<unsigned>& queues) const;
    [[nodiscard]] std::vector<unsigned> freePlaces(std::size_t count) const;
    [[nodiscard]] std::vector<FunctionPlan::BackQueue> freeBackQueues(uid_t user) const;
    void endWhere(const std::function<bool(const Connection&)>& ends, deploy::Steering& steering);
    void disconnect(const Connection& connection, deploy::Steering& steering);
    [[nodiscard]] bool wasLeft(const Queue& queue) const;
    /// Says which of a function's connections have what others give on.
    void placeTakers(unsigned number, const std::vector<unsigned>& ports) const;

    std::map<std::uint64_t, Connection> all_;
    std::uint64_t lastId_ = 0;
    unsigned backIfindex_ = 0;
    const deploy::WayBack* wayBack_ = nullptr;
    std::map<Queue, Clock::time_point> left_; ///< when, lately
    std::map<unsigned, uid_t> backUsers_;     ///< by queue, who had it last
};

/// How many queues the way back has: so many connections may use it at a time.
inline constexpr unsigned backQueues = 64;

} // namespace tna::daemon
