// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options.hpp"
#include "statistics.hpp"

#include <tna/function.hpp>

namespace tna::nat64 {

/// A translator with a network function around it.
class Service {
public:
    Service(const Options& options, Settings settings, NetworkFunction function)
        : options_(options), translator_(std::move(settings)), function_(std::move(function)) {}

    /// Frames that have come; waits for them. 0, EINTR, or the function's error.
    [[nodiscard]] int serve(std::chrono::milliseconds longest);
    /// Sends what is to be sent.
    void flush() { tna_function_flush(function_.get()); }
    [[nodiscard]] std::string statistics();
    [[nodiscard]] const NetworkFunction& function() const { return function_; }

private:
    void warnOfMtu() const;
    void treat(tna_frame& frame, std::uint32_t now);
    void dispose(const tna_frame& frame, Reason reason);
    void discard(const tna_frame& frame, Reason reason);
    [[nodiscard]] bool leave(const tna_frame& frame);
    [[nodiscard]] bool leaveSplit(const tna_frame& frame);
    [[nodiscard]] bool leavePiece(const tna_frame& whole, std::span<const std::uint8_t> layer2,
                                  std::span<const std::uint8_t> headers, std::span<const std::uint8_t> piece);

    Options options_;
    Translator translator_;
    NetworkFunction function_;
    Statistics statistics_;
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    std::uint64_t connections_ = 0;
    std::uint32_t expired_ = 0; ///< when was looked for what has expired
};

} // namespace tna::nat64
