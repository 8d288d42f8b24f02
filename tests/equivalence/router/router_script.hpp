// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "step.hpp"

namespace tna::test {

/// A random sequence of packets and changes for a RouterWorld. What stops all traffic does not last, and
/// routing rules come late: with them, all packets are Linux's.
class RouterScript : private Chance {
public:
    RouterScript(unsigned seed, unsigned steps) : Chance(seed), steps_(steps) {}
    [[nodiscard]] std::vector<Change> start();
    [[nodiscard]] Step next();

private:
    [[nodiscard]] std::string change();
    [[nodiscard]] std::string route();
    [[nodiscard]] std::string neighbour();
    [[nodiscard]] std::string setting();
    [[nodiscard]] std::string filter();
    [[nodiscard]] std::string link();
    [[nodiscard]] std::string rule();
    [[nodiscard]] std::string port();
    [[nodiscard]] std::string target(int version);

    unsigned steps_;
    unsigned step_ = 0;
    std::string undo_;   ///< of the last change, if it has one
    unsigned lasts_ = 0; ///< how many packets ago that was
};

} // namespace tna::test
