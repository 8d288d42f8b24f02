// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "step.hpp"

namespace tna::test {

/// A random sequence of frames and changes, the same one for the same seed. Most frames are between stations
/// that speak often, so that they are known; settings that stop all traffic do not last.
class Script : private Chance {
public:
    /// Of a bridge that filters VLANs, or does not.
    Script(unsigned seed, bool vlans) : Chance(seed), vlans_(vlans) {}
    /// What to configure first.
    [[nodiscard]] std::vector<Change> start();
    [[nodiscard]] Step next();

private:
    [[nodiscard]] Mac address(bool source);
    [[nodiscard]] Frame frame();
    [[nodiscard]] std::string change();
    [[nodiscard]] std::string portSetting();
    [[nodiscard]] std::string entry();
    [[nodiscard]] std::string rule();
    [[nodiscard]] std::string vlan();
    [[nodiscard]] std::uint16_t tci();
    [[nodiscard]] std::string port();

    bool vlans_;
    std::string undo_; ///< of the last change, if it has one
};

} // namespace tna::test
