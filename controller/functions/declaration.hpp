// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "functions/addresses.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tna::functions {

/// Which frames a function is to get. What is not said matches all.
struct Rule {
    unsigned priority = 100;        ///< lower ones first
    std::vector<std::string> ports; ///< by which frames come in; none: all ports of the function
    std::optional<unsigned> vlan;   ///< of the outermost tag; 0: there is none
    std::optional<unsigned> etherType;
    std::optional<unsigned> protocol;
    std::optional<Prefix> from;
    std::optional<Prefix> to;
    std::optional<PortRange> fromPort;
    std::optional<PortRange> toPort;
    unsigned flagsMask = 0; ///< of TCP: those that are looked at,
    unsigned flags = 0;     ///< and those of them that are to be set
    bool operator==(const Rule&) const = default;
};

/// How frames get into the function's memory.
enum class Mode { copy, zeroCopy };

/// A network function, as the operator has declared it.
struct Declaration {
    std::string name;
    std::vector<std::string> users;  ///< who may connect
    std::vector<std::string> groups; ///< members of these, too; root in any case
    std::vector<std::string> ports;
    std::vector<unsigned> queues{0}; ///< of each port; none: it has only what others give on
    unsigned frames = 4096;          ///< memory for so many, of each connection; a power of two
    unsigned frameSize = 2048;
    Mode mode = Mode::copy;
    bool drop = false;    ///< what nobody takes is dropped; else it is Linux's
    bool givesOn = false; ///< what it gives back goes on to the next function; else it is Linux's
    std::vector<Rule> rules;
    bool operator==(const Declaration&) const = default;

    /// Longer frames do not fit into its memory: the kernel wants room before them.
    [[nodiscard]] unsigned longest() const { return frameSize - 256; }
    /// The priority of its last rule: rules with a higher number are behind it.
    [[nodiscard]] unsigned lastPriority() const;
};

/// A name for functions is one that files may have.
[[nodiscard]] bool isFunctionName(const std::string& name);

/// From the words of tna-functions.d(5); errors say where, what was expected and what was found.
[[nodiscard]] Result<Declaration> parseDeclaration(const std::string& text, const std::string& name,
                                                   const std::string& file);

} // namespace tna::functions
