// SPDX-License-Identifier: Apache-2.0
#include "cli/refusal.hpp"

#include "base/printable.hpp"
#include "cli/near.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <regex>
#include <sstream>
#include <utility>

namespace tna::cli {

namespace {
std::vector<std::string> commandsOf(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    return names;
}

/// The command that the words have led to.
const CLI::App& innermost(const CLI::App& app) {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? app : innermost(*parsed.back());
}

void addOptions(const CLI::App& app, std::vector<std::string>& names) {
    for (const auto* option : app.get_options())
        for (const auto& name : option->get_lnames())
            names.push_back("--" + name);
}

/// Those of the command, and of the program.
std::vector<std::string> optionsOf(const CLI::App& app, const CLI::App& command) {
    std::vector<std::string> names;
    addOptions(app, names);
    if (&command != &app)
        addOptions(command, names);
    return names;
}

std::string nameOf(const CLI::App& app, const CLI::App& command, const std::string& program) {
    if (&command == &app)
        return program;
    const auto* parent = command.get_parent();
    return nameOf(app, parent == nullptr ? app : *parent, program) + " " + command.get_name();
}

/// What CLI11 says of an option's value, as the other checks say it, and what may have been meant.
std::pair<std::string, std::string> aboutValue(const std::string& said) {
    static const std::regex choice{R"((.*): (.*) not in \{(.*)\})"},
        missing{R"((.*): \d+ required .* missing)"};
    std::smatch found;
    if (std::regex_match(said, found, missing))
        return {found.str(1) + " needs a value", {}};
    if (!std::regex_match(said, found, choice))
        return {said, {}};
    std::vector<std::string> choices;
    std::istringstream list{found.str(3)};
    for (std::string one; std::getline(list, one, ',');)
        choices.push_back(one);
    return {
        fmt::format("{}: must be one of {}, not '{}'", found.str(1), fmt::join(choices, ", "), found.str(2)),
        guess(found.str(2), choices)};
}
} // namespace

Error refusal(const CLI::App& app, const CLI::ParseError& error, const std::string& program) {
    const auto& command = innermost(app);
    const auto name = nameOf(app, command, program);
    const auto usage = fmt::format("`{} --help` shows the usage", name);
    const auto refused = [&](std::string what, std::string hint) {
        return Error{std::move(what), {}, hint.empty() ? usage : hint + " " + usage, ExitCode::usage};
    };
    const auto left = app.remaining(true);
    const auto unknown = std::ranges::find_if(left, [](const auto& word) { return word.starts_with("-"); });
    if (unknown != left.end()) {
        const auto option = unknown->substr(0, unknown->find('='));
        return refused(fmt::format("there is no option '{}' of `{}`", option, name),
                       guess(option, optionsOf(app, command)));
    }
    const auto commands = commandsOf(command);
    if (const auto list = fmt::format("the commands are {}.", fmt::join(commands, ", ")); !commands.empty()) {
        if (left.empty())
            return refused(fmt::format("`{}` needs a command", name), list);
        const auto near = guess(left.front(), commands);
        return refused(fmt::format("there is no command '{}' of `{}`", left.front(), name),
                       near.empty() ? list : near + " " + list);
    }
    if (!left.empty())
        return refused(fmt::format("`{}` takes no '{}'", name, fmt::join(left, " ")), {});
    auto [what, hint] = aboutValue(error.what());
    return refused(std::move(what), std::move(hint));
}

std::optional<int> parse(CLI::App& app, std::vector<std::string> words, const std::string& program) {
    std::ranges::reverse(words); // CLI11 takes them from the end
    app.name(program);           // for the usage
    try {
        app.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0)
            return app.exit(error); // --help, --version
        const auto refused = refusal(app, error, program);
        fmt::print(stderr, "{}: {}\n", program, printable(refused.sentence()));
        return static_cast<int>(refused.code);
    }
    return std::nullopt;
}

} // namespace tna::cli
