// SPDX-License-Identifier: Apache-2.0
#include "diff/shrink.hpp"

#include <algorithm>

namespace tna::diff {

namespace {
using Clock = std::chrono::steady_clock;

/// Leaves out parts of what comes from a step on, until single steps are all needed.
void shrinkFrom(std::size_t first, Case& what, const Shows& shows, Clock::time_point deadline) {
    const auto place = [&](std::size_t step) {
        return what.steps.begin() + static_cast<std::ptrdiff_t>(step);
    };
    for (std::size_t part = std::max<std::size_t>((what.steps.size() - first) / 2, 1);;
         part = (part + 1) / 2) {
        bool smaller = false;
        for (std::size_t begin = first; begin < what.steps.size();) {
            if (Clock::now() > deadline)
                return;
            Case without = what;
            without.steps.assign(what.steps.begin(), place(begin));
            without.steps.insert(without.steps.end(), place(std::min(begin + part, what.steps.size())),
                                 what.steps.end());
            if (shows(without)) {
                what = std::move(without);
                smaller = true;
            } else {
                begin += part;
            }
        }
        // The last round is repeated for as long as it finds any.
        if (part == 1 && !smaller)
            return;
    }
}
} // namespace

Case shrink(Case what, const Shows& shows, std::chrono::seconds patience) {
    const auto deadline = Clock::now() + patience;
    const auto isPacket = [](const Step& step) { return std::holds_alternative<Packet>(step); };
    // What makes the configuration is needed more often than not: it comes last.
    const auto setup = std::ranges::find_if(what.steps, isPacket) - what.steps.begin();
    shrinkFrom(static_cast<std::size_t>(setup), what, shows, deadline);
    shrinkFrom(0, what, shows, deadline);
    return what;
}

} // namespace tna::diff
