// SPDX-License-Identifier: Apache-2.0
#include "diff/case.hpp"

#include "diff/entries.hpp"
#include "diff/words.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/ranges.h>
#include <optional>
#include <set>
#include <sstream>

namespace tna::diff {

namespace {
using Verb = Directive::Verb;

constexpr std::size_t mostFlows = 1U << 20U, mostConnections = 1U << 24U;
constexpr std::size_t longestWait = 600000;

constexpr std::pair<const char*, Verb> verbs[] = {{"@follow", Verb::follow},   {"@start", Verb::start},
                                                  {"@stop", Verb::stop},       {"@carrier", Verb::carrier},
                                                  {"@capture", Verb::capture}, {"@listen", Verb::listen},
                                                  {"@entry", Verb::entry},     {"@wait", Verb::wait}};

bool hasPort(Verb verb) {
    return verb == Verb::carrier || verb == Verb::capture || verb == Verb::listen;
}

bool hasWords(Verb verb) {
    return verb == Verb::entry || verb == Verb::wait;
}

std::optional<std::size_t> number(const std::string& word) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc{} && end == word.data() + word.size() ? std::optional(value) : std::nullopt;
}

/// Reads a script line by line.
class Reader {
public:
    explicit Reader(const std::vector<Packet>& packets) : packets_(packets) {}

    Result<void> line(const std::string& line) {
        line_++;
        const auto words = wordsOf(line);
        if (words.empty() || words.front().starts_with('#'))
            return {};
        if (words.front().starts_with('@'))
            return directive(words);
        done_.steps.push_back(Command{line});
        return {};
    }
    Case finish() {
        send(packets_.size());
        return std::move(done_);
    }

private:
    void send(std::size_t count) {
        for (; count > 0 && next_ < packets_.size(); count--)
            done_.steps.push_back(packets_[next_++]);
    }
    Result<void> ports(std::vector<std::string> names) {
        constexpr std::size_t longestName = 15; // IFNAMSIZ, with its end
        std::set<std::string> seen;
        for (const auto& name : names)
            if (name.size() > longestName || name == "." || name == ".." ||
                name.find_first_of("/:%") != std::string::npos || !seen.insert(name).second)
                return std::unexpected(
                    fail("line {}: '{}' cannot be the name of a port, or is one already", line_, name)
                        .error()
                        .withCode(ExitCode::usage));
        done_.ports = std::move(names);
        return {};
    }
    Result<void> directive(const std::vector<std::string>& words) {
        const auto& what = words.front();
        if (what == "@ports" && words.size() > 1)
            return ports({words.begin() + 1, words.end()});
        if (what == "@lazy") {
            done_.lazy = true;
            return {};
        }
        const auto count = words.size() == 2 ? number(words[1]) : std::nullopt;
        if (what == "@flows" && count && *count > 0 && *count <= mostFlows) {
            done_.flowsPerCpu = static_cast<unsigned>(*count);
            return {};
        }
        if (const auto most = count.value_or(SIZE_MAX); what == "@connections" && most <= mostConnections) {
            done_.connections = static_cast<unsigned>(most);
            return {};
        }
        if (what == "@wait" && count.value_or(SIZE_MAX) <= longestWait) {
            done_.steps.push_back(Directive{Verb::wait, {}, false, words[1]});
            return {};
        }
        if (what == "@entry" && words.size() > 1) {
            const auto rest = fmt::format("{}", fmt::join(words.begin() + 1, words.end(), " "));
            if (const auto order = entryOrder(rest); !order)
                return std::unexpected(fail("line {}: {}", line_, order.error().what)
                                           .error()
                                           .withHint("tna-diff(1) says how entries are written")
                                           .withCode(ExitCode::usage));
            done_.steps.push_back(Directive{Verb::entry, {}, false, rest});
            return {};
        }
        if (what == "@packets" && (count || words.size() == 1)) {
            send(count.value_or(packets_.size()));
            return {};
        }
        for (const auto& [name, verb] : verbs) {
            if (what != name || hasWords(verb) || words.size() != (hasPort(verb) ? 3 : 1))
                continue;
            if (!hasPort(verb)) {
                done_.steps.push_back(Directive{verb, {}, false});
                return {};
            }
            if (std::ranges::find(done_.ports, words[1]) == done_.ports.end())
                return std::unexpected(fail("line {}: there is no port '{}'", line_, words[1])
                                           .error()
                                           .withCode(ExitCode::usage));
            if (words[2] == "on" || words[2] == "off") {
                done_.steps.push_back(Directive{verb, words[1], words[2] == "on"});
                return {};
            }
        }
        return std::unexpected(fail("line {}: not understood: {}", line_, fmt::join(words, " "))
                                   .error()
                                   .withHint("tna-diff(1) has the list of lines that begin with @")
                                   .withCode(ExitCode::usage));
    }

    const std::vector<Packet>& packets_;
    std::size_t next_ = 0;
    unsigned line_ = 0;
    Case done_;
};
} // namespace

std::string text(const Directive& directive) {
    for (const auto& [name, verb] : verbs)
        if (verb == directive.verb)
            return hasPort(verb) ? fmt::format("{} {} {}", name, directive.port, directive.on ? "on" : "off")
                   : hasWords(verb) ? fmt::format("{} {}", name, directive.words)
                                    : name;
    return {};
}

std::string scriptOf(const Case& what) {
    std::string script = fmt::format("@ports {}\n@flows {}\n{}", fmt::join(what.ports, " "), what.flowsPerCpu,
                                     what.lazy ? "@lazy\n" : "");
    if (what.connections > 0)
        script += fmt::format("@connections {}\n", what.connections);
    std::size_t packets = 0;
    const auto flush = [&] {
        if (packets > 0)
            script += fmt::format("@packets {}\n", packets);
        packets = 0;
    };
    for (const auto& step : what.steps) {
        if (std::holds_alternative<Packet>(step)) {
            packets++;
            continue;
        }
        flush();
        const auto* command = std::get_if<Command>(&step);
        script += (command != nullptr ? command->words : text(std::get<Directive>(step))) + "\n";
    }
    flush();
    return script;
}

Result<Case> caseOf(const std::string& script, const std::vector<Packet>& packets) {
    Reader reader(packets);
    std::istringstream lines(script);
    for (std::string line; std::getline(lines, line);)
        if (auto read = reader.line(line); !read)
            return std::unexpected(read.error());
    return reader.finish();
}

Result<std::vector<std::string>> portsOf(const std::string& script) {
    const auto read = caseOf(script, {});
    if (!read)
        return std::unexpected(read.error());
    return read->ports;
}

} // namespace tna::diff
