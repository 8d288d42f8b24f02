// SPDX-License-Identifier: Apache-2.0
#include "introspect/tracker.hpp"

#include <utility>

namespace tna::introspect {

namespace {

/// The number of learned addresses comes along with the options of a bridge, but is not one of them.
void copyCounts(const model::Link& from, model::Link& to) {
    if (from.bridge && to.bridge)
        to.bridge->fdbLearned = from.bridge->fdbLearned;
}

} // namespace

void Tracker::remember(model::IfIndex ifindex) {
    if (before_.contains(ifindex))
        return;
    const auto* link = network_.link(ifindex);
    before_.emplace(ifindex, link == nullptr ? std::nullopt : std::optional(*link));
}

model::Link& Tracker::edit(model::IfIndex ifindex) {
    remember(ifindex);
    auto& link = network_.links[ifindex];
    link.ifindex = ifindex;
    return link;
}

model::Link* Tracker::find(model::IfIndex ifindex) {
    return network_.links.contains(ifindex) ? &edit(ifindex) : nullptr;
}

void Tracker::erase(model::IfIndex ifindex) {
    remember(ifindex);
    network_.links.erase(ifindex);
}

void Tracker::setSysctl(const std::string& name, const std::string& value) {
    auto& slot = network_.sysctls[name];
    if (slot == value)
        return;
    slot = value;
    changed_ = true;
}

Changes Tracker::take() {
    Changes changes;
    for (auto& [ifindex, before] : std::exchange(before_, {})) {
        const auto* now = network_.link(ifindex);
        if (before && now != nullptr) {
            if (*before == *now)
                continue;
            copyCounts(*now, *before);
            if (*before == *now) {
                changes.counts = true;
                continue;
            }
        } else if (!before && now == nullptr) {
            continue;
        }
        changes.links.insert(ifindex);
    }
    changes.any = std::exchange(changed_, false) || !changes.links.empty();
    changes.counts |= std::exchange(counts_, false);
    changes.ruleSets = std::exchange(ruleSets_, false);
    return changes;
}

} // namespace tna::introspect
