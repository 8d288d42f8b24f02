// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <poll.h>

namespace tna::test {

/// Asks again and again until the answer is yes or the patience ends, which is for machines that are
/// emulated.
template <typename Predicate>
bool eventually(Predicate predicate, std::chrono::milliseconds patience = std::chrono::seconds(20)) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!predicate()) {
        if (std::chrono::steady_clock::now() > deadline)
            return false;
        ::poll(nullptr, 0, 1);
    }
    return true;
}

} // namespace tna::test
