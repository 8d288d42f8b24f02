// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/random/routing.hpp"

#include <optional>

namespace tna::diff {

/// The address of a device, by its last byte: 02:00:00:00:ff:NN, as those of ports and bridges.
[[nodiscard]] Mac deviceMac(unsigned last);
[[nodiscard]] std::vector<Step> oneStep(std::string words);

/// A router whose ports are links.
class RouterScenario : public Scenario {
public:
    explicit RouterScenario(Chance& chance) : Scenario(chance) {}

    std::vector<std::string> setup() override;
    std::string restoration() override;

protected:
    std::vector<Step> newChange() override;
    /// What all routers end with, when their nets and hosts are known.
    [[nodiscard]] std::vector<std::string> finish(std::vector<std::string> lines);

    std::vector<RoutedNet> nets_;

private:
    std::vector<Step> ipsec();
    std::optional<Routing> routing_;
    bool ruled_ = false; ///< there has been a routing rule
};

} // namespace tna::diff
