// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/world.hpp"

#include <optional>

namespace tna::diff {

/// Where two worlds are not alike.
struct Difference {
    std::size_t step = 0; ///< the last one before it was seen
    std::string where;
    std::string what; ///< for people
};

/// What came out, byte by byte; in the same order, for each flow. `reordered` counts the places where only
/// the order between flows differs, which is the device's business.
[[nodiscard]] std::optional<Difference> compare(const Seen& plain, const Seen& fast, unsigned& reordered);

/// Texts of many lines.
[[nodiscard]] std::optional<Difference> compareLines(const std::string& where, const std::string& plain,
                                                     const std::string& fast);

/// What Linux remembers. Where `tnad` was started anew, a connection may stay there that ended with a reset,
/// for connection tracking had not seen how far it was (docs/firewalls.md): that is no difference.
[[nodiscard]] std::optional<Difference> compareMemory(const std::string& plain, const std::string& fast,
                                                      bool startedAnew);

/// Two files nf_conntrack: whether connections that are in both live as long, but for what the fast path
/// leaves undone for a while.
[[nodiscard]] std::optional<Difference> compareTimes(const std::string& plain, const std::string& fast);

} // namespace tna::diff
