// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "checks.hpp"
#include "statistics.hpp"

#include <chrono>
#include <map>
#include <tna/function.hpp>

namespace tna::balancer {

/// What the command line says.
struct Options {
    std::string file;
    unsigned interval = 0; ///< seconds between statistics; 0: none
    bool json = false;
};

/// A balancer with a network function around it.
class Server {
public:
    Server(const Options& options, Configuration configuration, NetworkFunction function);

    /// Frames that have come; waits for them. 0, EINTR, or the function's error.
    [[nodiscard]] int serve(std::chrono::milliseconds longest);
    /// Sessions stay.
    void reconfigure(Configuration configuration);
    /// Sends what is to be sent.
    void flush() { tna_function_flush(function_.get()); }
    [[nodiscard]] std::string statistics();
    [[nodiscard]] const NetworkFunction& function() const { return function_; }

private:
    [[nodiscard]] std::uint32_t now() const;
    /// What is to be done now and then, frames or not.
    void attend();
    void check(std::chrono::steady_clock::time_point now);
    /// Lets the frame go; false: there was no room, or no such port.
    [[nodiscard]] bool leave(tna_frame& frame, Outcome outcome);
    [[nodiscard]] bool sendToReceiver(tna_frame& frame);

    Options options_;
    /// With the first connection to tnad.
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    Balancer balancer_;
    Checks checks_;
    NetworkFunction function_;
    Statistics statistics_;
    std::map<std::string, Mac> macs_; ///< of this host's devices
    static constexpr std::uint32_t never = UINT32_MAX;
    std::uint32_t looked_ = never; ///< when for addresses of this host
};

} // namespace tna::balancer
