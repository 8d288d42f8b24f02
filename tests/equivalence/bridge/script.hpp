// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/frame.hpp"

#include <random>
#include <variant>

namespace tna::test {

/// A frame into a port.
struct Send {
    unsigned port;
    Frame frame;
};

/// A change of the configuration.
struct Change {
    std::string words;
};

using Step = std::variant<Send, Change>;

/// A random sequence of frames and changes, the same one for the same seed. Most frames are between stations
/// that speak often, so that they are known; settings that stop all traffic do not last.
class Script {
public:
    /// Of a bridge that filters VLANs, or does not.
    Script(unsigned seed, bool vlans) : random_(seed), vlans_(vlans) {}
    /// What to configure first.
    [[nodiscard]] std::vector<Change> start();
    [[nodiscard]] Step next();

private:
    [[nodiscard]] std::size_t below(std::size_t limit) { return random_() % limit; }
    template <typename T>
    [[nodiscard]] T oneOf(std::initializer_list<T> choice) {
        return *(choice.begin() + below(choice.size()));
    }
    [[nodiscard]] Mac address(bool source);
    [[nodiscard]] Frame frame();
    [[nodiscard]] std::string change();
    [[nodiscard]] std::string portSetting();
    [[nodiscard]] std::string entry();
    [[nodiscard]] std::string rule();
    [[nodiscard]] std::string vlan();
    [[nodiscard]] std::uint16_t tci();
    [[nodiscard]] std::string port();

    std::mt19937 random_;
    bool vlans_;
    std::string undo_; ///< of the last change, if it has one
};

} // namespace tna::test
