// SPDX-License-Identifier: Apache-2.0
#include "cli/checks.hpp"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace tna::cli {

namespace {
template <typename Number>
std::optional<Number> read(const std::string& word) {
    Number value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool whole = error == std::errc{} && end == word.data() + word.size();
    return whole ? std::optional(value) : std::nullopt;
}
} // namespace

CLI::Validator number(double least, double most) {
    return {[=](const std::string& word) {
                const auto value = read<double>(word);
                if (value && std::isfinite(*value) && *value >= least && *value <= most)
                    return std::string{};
                return fmt::format("must be a number from {} to {}, not '{}'", least, most, word);
            },
            ""};
}

CLI::Validator wholeNumber(std::uint64_t least, std::uint64_t most) {
    return {[=](const std::string& word) {
                const auto value = read<std::uint64_t>(word);
                if (value && *value >= least && *value <= most)
                    return std::string{};
                return fmt::format("must be a whole number from {} to {}, not '{}'", least, most, word);
            },
            ""};
}

void refuseEmptyWords(CLI::App& app) {
    for (auto* option : app.get_options())
        if (option->get_items_expected_max() > 0)
            option->check([](const std::string& word) {
                return word.empty() ? std::string("is empty: leave it out, or say what it is")
                                    : std::string{};
            });
    for (auto* command : app.get_subcommands([](CLI::App*) { return true; }))
        refuseEmptyWords(*command);
}

} // namespace tna::cli
