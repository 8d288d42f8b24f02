// SPDX-License-Identifier: Apache-2.0
#include "bench/delays/settings.hpp"

#include <algorithm>

namespace tna::bench {

std::vector<Settings> combinations(const std::vector<MissingKnob>& missing) {
    std::vector<Settings> all{usualSettings()};
    for (const auto& [knob, name, words] : knobs) {
        if (std::ranges::count(missing, knob, &MissingKnob::knob) != 0)
            continue;
        const auto before = all.size();
        for (std::size_t i = 0; i < before; i++) {
            all.push_back(all[i]);
            all[i].set(knob, false);
            all.back().set(knob, true);
        }
    }
    return all;
}

} // namespace tna::bench
