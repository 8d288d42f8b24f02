// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "introspect/introspector.hpp"

#include <map>
#include <optional>

namespace tna::introspect {

/// The model, and what has changed in it since somebody last asked.
class Tracker {
public:
    [[nodiscard]] const model::Network& network() const { return network_; }

    /// The link for writing; made where it does not exist.
    [[nodiscard]] model::Link& edit(model::IfIndex ifindex);
    /// The link for writing; null where it does not exist.
    [[nodiscard]] model::Link* find(model::IfIndex ifindex);
    void erase(model::IfIndex ifindex);

    /// Replaces one part of the model other than its links.
    template <typename Part>
    void replace(Part model::Network::* part, Part value) {
        if (network_.*part == value)
            return;
        network_.*part = std::move(value);
        changed_ = true;
    }
    /// The same for the parts that are counts only.
    template <typename Part>
    void replaceCounts(Part model::Network::* part, Part value) {
        if (network_.*part == value)
            return;
        network_.*part = std::move(value);
        counts_ = true;
    }
    /// Rule sets themselves are not in the model.
    void noteRuleSets() { ruleSets_ = true; }
    void setSysctl(const std::string& name, const std::string& value);

    /// What changed since the last call. Edits that were taken back do not count.
    [[nodiscard]] Changes take();

private:
    void remember(model::IfIndex ifindex);

    model::Network network_;
    std::map<model::IfIndex, std::optional<model::Link>> before_;
    bool changed_ = false;
    bool counts_ = false;
    bool ruleSets_ = false;
};

} // namespace tna::introspect
