// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace tna::balancer {

/// Lists of numbers below a bound that is known from the beginning, each the oldest first. A number is in one
/// of them at most.
class AgeLists {
public:
    AgeLists(std::uint32_t lists, std::uint32_t numbers) : ends_(numbers), nodes_(numbers + lists) {
        for (auto end = ends_; end < nodes_.size(); end++)
            nodes_[end] = {end, end};
    }

    [[nodiscard]] bool isEmpty(std::uint32_t list) const {
        return nodes_[ends_ + list].newer == ends_ + list;
    }
    /// Of a list that is not empty.
    [[nodiscard]] std::uint32_t oldest(std::uint32_t list) const { return nodes_[ends_ + list].newer; }
    /// A number that is in no list is the newest of this one now.
    void add(std::uint32_t list, std::uint32_t number) {
        const auto end = ends_ + list;
        nodes_[number] = {nodes_[end].older, end};
        nodes_[nodes_[end].older].newer = number;
        nodes_[end].older = number;
    }
    void remove(std::uint32_t number) {
        nodes_[nodes_[number].older].newer = nodes_[number].newer;
        nodes_[nodes_[number].newer].older = nodes_[number].older;
    }

private:
    struct Node {
        std::uint32_t older = 0;
        std::uint32_t newer = 0;
    };
    std::uint32_t ends_; ///< behind the numbers, the end of each list, which is older than the oldest
    std::vector<Node> nodes_;
};

} // namespace tna::balancer
