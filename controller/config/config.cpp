// SPDX-License-Identifier: Apache-2.0
#include "config/config.hpp"

#include "base/file.hpp"
#include "base/pattern.hpp"
#include "config/characters.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <functional>
#include <map>
#include <optional>

#define TOML_EXCEPTIONS 0
// Its assertions fail where its errors should be told, for "[%]" as an instance.
#define TOML_ASSERT(expression) static_cast<void>(0)
#include <toml++/toml.h>

namespace tna::config {

namespace {

constexpr std::size_t largest = std::size_t{1} << 20U; ///< file
/// With a pipe; read again at a signal, it keeps everything else waiting.
constexpr auto patience = std::chrono::seconds(2);

class Reader {
public:
    explicit Reader(std::string name) : name_(std::move(name)) {}

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

private:
    void expected(const toml::node& node, const std::string& key, const std::string& what) {
        if (!error_)
            error_ = Error{fmt::format("{}:{}: '{}' must be {}", name_, node.source().begin.line, key, what),
                           {},
                           "tnad.conf(5) shows every setting",
                           ExitCode::usage};
    }

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
    std::optional<Error> error_;
};

} // namespace

const std::vector<std::string>& logLevels() {
    static const std::vector<std::string> levels{"trace", "debug",    "info", "warning",
                                                 "error", "critical", "off"};
    return levels;
}

const std::vector<std::string>& fdbWays() {
    static const std::vector<std::string> ways{"auto", "in-place", "kfunc", "mirror"};
    return ways;
}

Result<Config> parseConfig(const std::string& written, const std::string& name) {
    // Editors of other systems begin files with it.
    constexpr std::string_view mark = "\xef\xbb\xbf";
    const auto text = written.starts_with(mark) ? written.substr(mark.size()) : written;
    const auto wrongAt = [&](auto line, std::string why) {
        return std::unexpected(Error{fmt::format("{}:{}: this is not TOML", name, line), std::move(why),
                                     "tnad.conf(5) shows every setting", ExitCode::usage});
    };
    const auto strayAt = [&](auto found) {
        return wrongAt(
            1 + std::count(text.begin(), found, '\n'),
            fmt::format("there is a character with the code {:#04x}", static_cast<unsigned char>(*found)));
    };
    const auto notParsed = [&](const toml::parse_error& error) {
        return wrongAt(error.source().begin.line, std::string(error.description()));
    };
    if (const auto found = findControl(text))
        return strayAt(*found);
    if (const auto ascii = toml::parse(asciiOf(text)); !ascii)
        return notParsed(ascii.error());
    if (const auto found = findStray(text))
        return strayAt(*found);
    const auto parsed = toml::parse(text);
    if (!parsed)
        return notParsed(parsed.error());
    Config config;
    Reader reader{name};
    reader.table(
        parsed.table(), "",
        {{"ports",
          reader.section(
              "ports",
              {{"include", reader.patterns("include", config.ports.include)},
               {"exclude", reader.patterns("exclude", config.ports.exclude)},
               {"exclude_drivers", reader.patterns("exclude_drivers", config.ports.excludeDrivers)},
               {"exclude_kinds", reader.patterns("exclude_kinds", config.ports.excludeKinds)},
               {"tcx_kinds", reader.patterns("tcx_kinds", config.ports.tcxKinds)},
               {"finished_frames", reader.patterns("finished_frames", config.ports.finishedFrames)},
               {"trusted_drivers", reader.patterns("trusted_drivers", config.ports.trustedDrivers)}})},
         {"kernel",
          reader.section(
              "kernel",
              {{"fdb", reader.choice("fdb", config.kernel.fdb, fdbWays())},
               {"refresh", reader.number("refresh", config.kernel.refresh, 10, 1U << 30U, false)},
               {"self_check", reader.number("self_check", config.kernel.selfCheck, 0, 1U << 20U, true)}})},
         {"daemon",
          reader.section("daemon",
                         {{"socket", reader.string("socket", config.daemon.socket)},
                          {"socket_group", reader.string("socket_group", config.daemon.socketGroup)},
                          {"change_group", reader.string("change_group", config.daemon.changeGroup)},
                          {"log_level", reader.choice("log_level", config.daemon.logLevel, logLevels())}})},
         {"metrics", reader.section("metrics", {{"listen", reader.string("listen", config.metrics.listen)}})},
         {"modules",
          reader.section("modules", {{"directory", reader.string("directory", config.modules.directory)}})},
         {"limits",
          reader.section(
              "limits",
              {{"max_ports", reader.number("max_ports", config.limits.maxPorts, 2, 65535, false)},
               {"flows_per_cpu",
                reader.number("flows_per_cpu", config.limits.flowsPerCpu, 64, 1U << 19U, true)},
               {"many_routes", reader.number("many_routes", config.limits.manyRoutes, 0, UINT32_MAX, false)},
               {"destinations",
                reader.number("destinations", config.limits.destinations, 0, 1U << 24U, false)},
               {"connections", reader.number("connections", config.limits.connections, 0, 1U << 24U, false)},
               {"max_stations",
                reader.number("max_stations", config.limits.maxStations, 64, 1U << 24U, false)}})}});
    if (const auto error = reader.error())
        return std::unexpected(*error);
    return config;
}

Result<Config> loadConfig(const std::string& path) {
    auto text = readNamedFile(path, largest, patience);
    if (!text)
        return std::unexpected(
            std::move(text.error())
                .withHint("name a readable file with --config; without any, the defaults hold")
                .withCode(ExitCode::usage));
    return parseConfig(*text, path);
}

} // namespace tna::config
