// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/frame.hpp"

#include <initializer_list>
#include <random>
#include <string>
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

/// What happens is random, and the same for the same seed.
class Chance {
public:
    explicit Chance(unsigned seed) : random_(seed) {}
    [[nodiscard]] std::size_t below(std::size_t limit) { return random_() % limit; }
    [[nodiscard]] unsigned number() { return static_cast<unsigned>(random_()); }
    template <typename T>
    [[nodiscard]] T oneOf(std::initializer_list<T> choice) {
        return *(choice.begin() + below(choice.size()));
    }
    /// A filter on a device, one that does something or not.
    [[nodiscard]] std::string tcFilter(const std::string& device) {
        return "tc qdisc add dev " + device + " clsact && tc filter add dev " + device +
               oneOf<std::string>({" ingress", " egress"}) + " protocol all u32 match u32 0 0 flowid 1:1" +
               oneOf<std::string>({"", " action drop"});
    }

private:
    std::mt19937 random_;
};

} // namespace tna::test
