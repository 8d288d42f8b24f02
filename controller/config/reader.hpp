// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/pattern.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#define TOML_EXCEPTIONS 0
// Its assertions fail where its errors should be told, for "[%]" as an instance.
#define TOML_ASSERT(expression) static_cast<void>(0)
#include <toml++/toml.h>

namespace tna::config {

/// What is no TOML, or has characters that are nobody's, is an error with its line; `manual` is its hint.
[[nodiscard]] Result<toml::table> parseToml(const std::string& written, const std::string& name,
                                            const std::string& manual);

/// Reads tables key by key. The first thing that is wrong is what error() tells, with file and line.
class Reader {
public:
    /// Both are for messages: what is read, and what tells how it is to be.
    Reader(std::string name, std::string manual) : name_(std::move(name)), manual_(std::move(manual)) {}

    using Setter = std::function<void(const toml::node&)>;
    using Keys = std::map<std::string, Setter>;

    /// Hands each key of a table to its setter; a key without one is an error.
    void table(const toml::table& table, const std::string& prefix, const Keys& keys) {
        for (const auto& [key, node] : table) {
            const auto it = keys.find(std::string(key.str()));
            if (it == keys.end())
                unknown(node, prefix + std::string(key.str()), prefix, keys);
            else
                it->second(node);
        }
    }

    Setter section(const std::string& name, Keys keys) {
        return [this, name, keys = std::move(keys)](const toml::node& node) {
            if (const auto* inner = node.as_table())
                table(*inner, name + ".", keys);
            else
                expected(node, name, "a table, written [" + name + "]");
        };
    }

    Setter strings(std::string key, std::vector<std::string>& target) {
        return [this, key = std::move(key), &target](const toml::node& node) {
            const auto* array = node.as_array();
            std::vector<std::string> values;
            bool good = array != nullptr;
            for (std::size_t i = 0; good && i < array->size(); i++) {
                const auto value = (*array)[i].value_exact<std::string>();
                good = value.has_value();
                values.push_back(value.value_or(""));
            }
            if (good)
                target = std::move(values);
            else
                expected(node, key, "a list of strings, for instance [\"eth*\"]");
        };
    }

    /// Shell patterns.
    Setter patterns(const std::string& key, std::vector<std::string>& target) {
        return [this, key, read = strings(key, target), &target](const toml::node& node) {
            read(node);
            if (!std::ranges::all_of(target, isPattern))
                expected(node, key,
                         "a list of shell patterns: a bracket has no end, or nothing follows a \\");
        };
    }

    Setter string(std::string key, std::string& target) {
        return [this, key = std::move(key), &target](const toml::node& node) {
            if (const auto value = node.value_exact<std::string>())
                target = *value;
            else
                expected(node, key, "a string in quotes");
        };
    }

    /// A string that must be so, in the words of a message.
    Setter string(std::string key, std::string& target, bool (*good)(const std::string&), std::string what) {
        return [this, key = std::move(key), &target, good, what = std::move(what)](const toml::node& node) {
            const auto value = node.value_exact<std::string>();
            if (value && good(*value))
                target = *value;
            else
                expected(node, key, what);
        };
    }

    Setter boolean(std::string key, bool& target) {
        return [this, key = std::move(key), &target](const toml::node& node) {
            if (const auto value = node.value_exact<bool>())
                target = *value;
            else
                expected(node, key, "true or false");
        };
    }

    Setter choice(std::string key, std::string& target, const std::vector<std::string>& known) {
        return [this, key = std::move(key), &target, &known](const toml::node& node) {
            const auto value = node.value_exact<std::string>();
            if (value && std::ranges::find(known, *value) != known.end())
                target = *value;
            else
                expected(node, key, fmt::format("one of \"{}\"", fmt::join(known, "\", \"")));
        };
    }

    Setter number(std::string key, unsigned& target, unsigned least, unsigned most, bool powerOfTwo) {
        return [this, key = std::move(key), &target, least, most, powerOfTwo](const toml::node& node) {
            const auto value = node.value_exact<std::int64_t>();
            const bool good =
                value && *value >= least && *value <= most &&
                (!powerOfTwo || *value == 0 || std::has_single_bit(static_cast<std::uint64_t>(*value)));
            if (good)
                target = static_cast<unsigned>(*value);
            else
                expected(node, key,
                         fmt::format("{} from {} to {}", powerOfTwo ? "a power of two" : "a whole number",
                                     least, most));
        };
    }

    [[nodiscard]] std::optional<Error> error() const { return error_; }

protected:
    void expected(const toml::node& node, const std::string& key, const std::string& what) {
        if (!error_)
            error_ = Error{fmt::format("{}:{}: '{}' must be {}", name_, node.source().begin.line, key, what),
                           {},
                           manual_,
                           ExitCode::usage};
    }

private:
    void unknown(const toml::node& node, const std::string& key, const std::string& prefix,
                 const Keys& keys) {
        if (error_)
            return;
        std::string known;
        for (const auto& [name, setter] : keys)
            known += fmt::format("{}{}{}", known.empty() ? "" : ", ", prefix, name);
        error_ = Error{fmt::format("{}:{}: there is no setting '{}'", name_, node.source().begin.line, key),
                       {},
                       "known here: " + known,
                       ExitCode::usage};
    }

    std::string name_;
    std::string manual_;
    std::optional<Error> error_;
};

} // namespace tna::config
