// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "table.hpp"

#include <span>
#include <string>
#include <vector>

namespace tna::workload {

/// What is done with each frame.
enum class Work {
    macswap,  ///< its addresses are in each other's place
    checksum, ///< the same, with the checksum of UDP or TCP computed anew
    lookup,   ///< the same, after a random line of a table was read
    firewall, ///< dropped if its connection is in a table, or else the same
    chain,    ///< the same, and then to the backend of its session
    forward,  ///< by the next port
    back,     ///< to Linux
    drop,
};
[[nodiscard]] const std::vector<std::string>& workNames();

struct WorkSettings {
    std::size_t entries = 1024;   ///< of the table: lines of lookup, connections that are dropped
    std::size_t sessions = 10000; ///< of chain
    unsigned times = 1;           ///< that a checksum is computed
};

/// One of them, with what it needs. It does the work, and not what becomes of the frame.
class Worker {
public:
    Worker(Work work, const WorkSettings& settings);
    /// False: a firewall drops it.
    [[nodiscard]] bool treat(std::span<unsigned char> frame);
    /// Depends on all that was read, so that it is read.
    [[nodiscard]] std::uint64_t result() const { return result_; }

private:
    static constexpr std::size_t lineSize = 64;
    struct alignas(lineSize) Line {
        std::uint64_t value = 0;
    };
    [[nodiscard]] std::uint64_t read();
    [[nodiscard]] bool pass(std::span<unsigned char> frame) const;

    Work work_;
    unsigned times_;
    std::vector<Line> lines_;
    FlowTable blocked_;
    FlowTable sessions_;
    std::uint64_t random_ = 1;
    std::uint64_t result_ = 0;
};

} // namespace tna::workload
