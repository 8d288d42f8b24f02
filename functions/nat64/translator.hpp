// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mapping.hpp"

#include <memory>

namespace tna::nat64 {

enum class Fate : std::uint8_t {
    translated, ///< it is of the other version, or (between two hosts of IPv6's side) of the same one
    answered,   ///< an ICMP error to its sender is in its place
    leftAlone,  ///< it is what it was
    spoilt,     ///< it was translated, but not back to the other host of IPv6's side: it is of no use
};
struct Outcome {
    Fate fate = Fate::leftAlone;
    Reason reason = Reason::none;
};

struct Settings {
    Addresses addresses;
    Limits limits;
    Maps maps;
    std::vector<Prefix4> inside;
    std::optional<Address4> errorSource;
    Pool pool; ///< empty: stateless
    SessionSettings sessions;
    bool answerUnbound = true; ///< packets from IPv4 to ports that nobody uses
    std::uint64_t seed = 0;
};

/// Translates packets one by one.
class Translator {
public:
    explicit Translator(Settings settings);

    /// `now`: seconds that only grow.
    [[nodiscard]] Outcome translate(Buffer& packet, std::uint32_t now);
    /// Nothing: stateless.
    [[nodiscard]] Sessions* sessions() { return stateful_ != nullptr ? &stateful_->sessions() : nullptr; }
    [[nodiscard]] const Limits& limits() const { return limits_; }

private:
    [[nodiscard]] Reason translate6(Buffer& packet, Parsed& parsed, std::uint32_t now);
    [[nodiscard]] Reason translate4(Buffer& packet, Parsed& parsed, std::uint32_t now);
    [[nodiscard]] bool complain(Buffer& packet, bool six, const Parsed& parsed, Reason reason,
                                std::uint32_t now);

    std::unique_ptr<Mapping> mapping_;
    Stateful* stateful_ = nullptr;
    Limits limits_;
    bool answerUnbound_;
    std::uint16_t id_;
    std::uint32_t second_ = 0;
    unsigned complaints_ = 0; ///< in that second
};

} // namespace tna::nat64
