// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tna::bench {

constexpr unsigned smallestFrame = 64;
constexpr unsigned largestFrame = 1514;

/// The frame that the generator sends in a flow, to its last byte: from station 02:01:n to station 02:00:n, n
/// being four bytes.
[[nodiscard]] std::vector<unsigned char> frameOfFlow(unsigned flow, unsigned size);

/// How frames that arrived differ from one sent in each of `flows` flows; empty if they do not.
[[nodiscard]] std::string differences(const std::vector<std::vector<unsigned char>>& arrived, unsigned flows,
                                      unsigned size);

} // namespace tna::bench
