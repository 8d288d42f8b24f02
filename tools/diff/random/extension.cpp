// SPDX-License-Identifier: Apache-2.0
#include "diff/random/extension.hpp"

#include <fmt/format.h>

namespace tna::diff {

std::vector<std::string> Extension::setup() {
    auto lines = base_->setup();
    for (auto& line : more())
        lines.push_back(std::move(line));
    return lines;
}

std::vector<Step> Extension::newChange() {
    return chance_.once(usualChange()) ? base_->change() : ownChange();
}

std::string Extension::batch(bool six, const std::vector<std::string>& lines) {
    std::string words = "printf '";
    for (const auto& line : lines)
        words += line + "\\n";
    return words + fmt::format("' | ip -{} -force -batch - || true", six ? 6 : 4);
}

std::string Extension::way(bool six) {
    const auto& host = chance_.oneOf(topology().hosts);
    return six ? text6(host.ip6) : text4(host.ip4);
}

std::string Extension::device() {
    return topology().devices.empty() ? "br0" : chance_.oneOf(topology().devices);
}

std::unique_ptr<Scenario> anyRouter(Chance& chance) {
    return chance.once(3) ? routedBridgeScenario(chance) : routerScenario(chance);
}

std::unique_ptr<Scenario> anyUsual(Chance& chance) {
    return chance.once(3) ? bridgeScenario(chance, false) : anyRouter(chance);
}

} // namespace tna::diff
