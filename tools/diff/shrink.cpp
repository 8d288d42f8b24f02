// SPDX-License-Identifier: Apache-2.0
#include "diff/shrink.hpp"

#include <algorithm>

namespace tna::diff {

Case shrink(Case what, const Shows& shows, std::chrono::seconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (std::size_t part = std::max<std::size_t>(what.steps.size() / 2, 1);; part = (part + 1) / 2) {
        bool smaller = false;
        // From the end: what comes last is often what shows it, what comes before it prepares it.
        for (std::size_t end = what.steps.size(); end > 0;) {
            if (std::chrono::steady_clock::now() > deadline)
                return what;
            const auto begin = end > part ? end - part : 0;
            Case without = what;
            without.steps.erase(without.steps.begin() + static_cast<std::ptrdiff_t>(begin),
                                without.steps.begin() + static_cast<std::ptrdiff_t>(end));
            if (shows(without)) {
                what = std::move(without);
                smaller = true;
            }
            end = begin;
        }
        // The last round, of single steps, is repeated for as long as it finds any.
        if (part == 1 && !smaller)
            return what;
    }
}

} // namespace tna::diff
