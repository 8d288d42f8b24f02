// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tna/function.hpp>
#include <vector>

namespace tna::workload {

/// What is done with each frame.
enum class Work {
    macswap,  ///< back to who has sent it
    checksum, ///< the same, after every byte has been read
    lookup,   ///< the same, after its addresses have been looked up in a table
    forward,  ///< by the next port
    back,     ///< to Linux
    drop,
};
[[nodiscard]] const std::vector<std::string>& workNames();

/// One of them, with what it needs.
class Worker {
public:
    Worker(Work work, std::size_t entries);
    /// What becomes of the frame is said to the function.
    void treat(NetworkFunction& function, tna_frame& frame);
    /// Depends on all that was read, so that it is read.
    [[nodiscard]] std::uint64_t result() const { return result_; }

private:
    void look(const tna_frame& frame);

    Work work_;
    std::vector<std::uint64_t> table_; ///< a power of two
    std::uint64_t result_ = 0;
};

} // namespace tna::workload
