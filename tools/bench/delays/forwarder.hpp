// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/net_namespace.hpp"
#include "bench/delays/frame_socket.hpp"

#include <functional>
#include <future>
#include <stop_token>
#include <thread>

namespace tna::bench {

/// A thread on a processor of its own, in a namespace, that does something until this object is gone.
class Helper {
public:
    /// `prepare` makes what is done again and again; it is run in the thread, whose success is waited for.
    using Step = std::function<Result<void>()>;
    [[nodiscard]] static Result<Helper> start(const NetNamespace& where, unsigned cpu,
                                              const std::function<Result<Step>()>& prepare);

private:
    explicit Helper(std::jthread thread) : thread_(std::move(thread)) {}
    std::jthread thread_;
};

/// Sends each probe back by an AF_XDP socket.
[[nodiscard]] Result<Helper> startForwarder(const NetNamespace& where, const std::string& device,
                                            Settings settings, int sockets);
/// Sends each packet back by an ordinary socket of UDP.
[[nodiscard]] Result<Helper> startUdpEcho(const NetNamespace& where, const std::string& address);

} // namespace tna::bench
