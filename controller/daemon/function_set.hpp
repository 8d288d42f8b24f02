// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "functions/steering_table.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tna::daemon {

/// The network functions that the operator has declared, each with its place in the fast path and those of
/// its rules, which it keeps for as long as it is there.
class FunctionSet {
public:
    struct Function {
        functions::Declaration declared;
        unsigned number = 0;
        std::vector<unsigned> ruleNumbers;
        bool bypassed = false;
        bool fromFile = false;
    };

    /// Adds it, or puts it in the place of the one of its name. An error says what is against it: another one
    /// has a queue of a port already, or there is no room.
    [[nodiscard]] Result<void> put(functions::Declaration declared, bool fromFile);
    void remove(const std::string& name) { all_.erase(name); }

    [[nodiscard]] Function* find(const std::string& name);
    [[nodiscard]] const Function* find(const std::string& name) const;
    [[nodiscard]] const std::map<std::string, Function>& all() const { return all_; }
    /// By ports' names, of all functions, each once.
    [[nodiscard]] std::vector<std::string> ports() const;
    /// Whether another function gives frames on, and this one's rules are behind that one's for some port.
    [[nodiscard]] bool takesOn(const functions::Declaration& declared) const;
    [[nodiscard]] Result<functions::SteeringTable>
    table(const std::map<std::string, unsigned>& interfaces) const;

private:
    [[nodiscard]] std::optional<Error> obstacle(const functions::Declaration& declared) const;
    [[nodiscard]] std::optional<unsigned> freeNumber() const;
    [[nodiscard]] std::vector<unsigned> freeRules(std::size_t count, const Function* replaced) const;

    std::map<std::string, Function> all_;
};

} // namespace tna::daemon
