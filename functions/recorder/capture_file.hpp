// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tna::recorder {

/// Where frames are written, and how much of them.
struct Target {
    std::string path;               ///< FILE.pcapng; of several files, FILE-0.pcapng and so on
    unsigned files = 1;             ///< the oldest is written over
    std::uint64_t size = 0;         ///< bytes, after which the next file begins; 0: no limit
    unsigned most = 262144;         ///< bytes of a frame
    std::vector<std::string> ports; ///< their interfaces, in their order
};

/// A capture in the format pcapng, as a ring of files. What cannot be written is counted, and tried again
/// with what comes later: whoever hands frames over is not kept waiting by errors.
class CaptureFile {
public:
    [[nodiscard]] static Result<CaptureFile> create(Target target);
    CaptureFile(CaptureFile&&) = default;
    CaptureFile& operator=(CaptureFile&&) = delete;
    ~CaptureFile() { flush(); }

    void add(std::span<const std::uint8_t> frame, unsigned port, std::chrono::nanoseconds since1970);
    /// Writes what has been gathered.
    void flush();

    [[nodiscard]] std::uint64_t written() const { return written_; }
    [[nodiscard]] std::uint64_t lost() const { return lost_; }
    /// Why, the last time; 0: nothing was lost.
    [[nodiscard]] int error() const { return error_; }

private:
    explicit CaptureFile(Target target) : target_(std::move(target)) {}
    [[nodiscard]] Result<void> open(unsigned number);
    [[nodiscard]] bool writeHead();
    [[nodiscard]] bool writeAll(std::span<const std::uint8_t> bytes);
    void next();

    Target target_;
    UniqueFd file_;
    unsigned number_ = 0;
    std::uint64_t length_ = 0;          ///< of the present file
    std::vector<std::uint8_t> pending_; ///< whole blocks
    std::uint64_t frames_ = 0;          ///< in there
    std::uint64_t written_ = 0;
    std::uint64_t lost_ = 0;
    int error_ = 0;
};

} // namespace tna::recorder
