// SPDX-License-Identifier: Apache-2.0
#include "tnactl/function_command.hpp"

#include "base/file.hpp"
#include "base/printable.hpp"
#include "tnactl/document.hpp"
#include "tnactl/table.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/ranges.h>

namespace tna::ctl {

namespace {
using nlohmann::json;

constexpr std::size_t largestDeclaration = std::size_t{1} << 20U;
constexpr std::string_view declarationSuffix = ".toml";

/// dns.toml -> dns
std::string functionNameOf(const std::string& file) {
    auto name = std::filesystem::path(file).filename().string();
    if (name.ends_with(declarationSuffix))
        name.resize(name.size() - declarationSuffix.size());
    return name;
}

std::string pathOfFunction(const std::string& name) {
    return "/v1/functions/" + encoded(name);
}

/// "p0,p1 (not there)"
std::string portsOf(const json& function) {
    std::vector<std::string> ports;
    for (const auto& port : part(function, "ports"))
        ports.push_back(text(port, "name") + (part(port, "there") != true         ? " (not there)"
                                              : part(port, "against").is_string() ? " (not steered)"
                                                                                  : ""));
    return fmt::format("{}", fmt::join(ports, ","));
}

/// Who may connect, but is not there.
std::string strangersOf(const json& function) {
    std::string told;
    for (const auto& one : part(function, "unknown"))
        if (one.is_string())
            told += "there is no " + printable(one.get<std::string>()) + " here (yet)\n";
    return told;
}

std::uint64_t sumOf(const json& rows, const char* of) {
    std::uint64_t sum = 0;
    for (const auto& row : rows)
        if (const auto value = part(row, of); value.is_number_unsigned())
            sum += value.get<std::uint64_t>();
    return sum;
}

const char* meaningOf(const std::string& state) {
    if (state == "nobody")
        return "nobody has connected: its frames are treated as `otherwise` says";
    if (state == "no-port")
        return "none of its ports is there yet, or can be steered from";
    if (state == "full")
        return "it does not take what it is given, and gets no more until it does";
    if (state == "bypassed")
        return "by the operator: its frames are Linux's, `tnactl function resume` ends that";
    return "it gets its frames";
}
} // namespace

std::string renderFunctions(const json& document) {
    Table table{{"FUNCTION", "STATE", "PORTS", "PROCESSES", "PACKETS", "OTHERWISE", "DECLARED BY"}};
    for (const auto& function : part(document, "functions"))
        table.add({text(function, "name"), text(function, "state"), portsOf(function),
                   std::to_string(part(function, "connections").size()),
                   std::to_string(sumOf(part(function, "rules"), "packets")),
                   std::to_string(sumOf(part(function, "rules"), "otherwise")),
                   part(function, "from_file") == true ? "file" : "tnactl"});
    if (part(document, "functions").empty())
        return "There are no network functions.\n";
    const auto why = part(document, "no_way_back");
    return table.text() +
           (why.is_string()
                ? "\nFrames cannot be given back to Linux: " + printable(why.get<std::string>()) + "\n"
                : "");
}

std::string renderFunction(const json& function) {
    const auto state = text(function, "state");
    auto shown = fmt::format(
        "{}: {}, {}\nports {}, queues {}, {} frames of {} bytes, mode {}, otherwise {}, given back {}\n\n",
        text(function, "name"), state, meaningOf(state), portsOf(function), part(function, "queues").dump(),
        part(function, "frames").dump(), part(function, "frame_size").dump(), text(function, "mode"),
        text(function, "otherwise"), text(function, "given_back"));
    for (const auto& port : part(function, "ports"))
        if (part(port, "against").is_string())
            shown.insert(shown.size() - 1, text(port, "against") + "\n");
    shown.insert(shown.size() - 1, strangersOf(function));
    Table rules{{"RULE", "PRIORITY", "PACKETS", "BYTES", "OTHERWISE"}};
    for (const auto& rule : part(function, "rules"))
        rules.add({part(rule, "rule").dump(), part(rule, "priority").dump(), part(rule, "packets").dump(),
                   part(rule, "bytes").dump(), part(rule, "otherwise").dump()});
    shown += rules.text();
    Table sockets{
        {"PROCESS", "USER", "PORT", "QUEUE", "ZERO COPY", "FULL", "PACKETS", "NO ROOM", "TOO LONG"}};
    for (const auto& connection : part(function, "connections"))
        for (const auto& socket : part(connection, "sockets"))
            sockets.add({part(connection, "process").dump(), part(connection, "user").dump(),
                         text(socket, "port"), part(socket, "queue").dump(),
                         part(socket, "zero_copy") == true ? "yes" : "no",
                         part(socket, "full") == true ? "yes" : "no", part(socket, "packets").dump(),
                         part(socket, "no_room").dump(), part(socket, "too_long").dump()});
    return part(function, "connections").empty() ? shown : shown + "\n" + sockets.text();
}

void FunctionCommand::describe(CLI::App& command) {
    command.require_subcommand(1);
    command.footer("Examples: tnactl function add dns.toml\n"
                   "          tnactl function bypass dns\n"
                   "tna-functions.d(5) tells how functions are declared.");
    const auto under = [&](const char* name, const char* purpose, const char* words) {
        auto* made = command.add_subcommand(name, purpose)->fallthrough();
        made->footer(words);
        return made;
    };
    list_ = under("list", "all of them: who has connected, and what they got",
                  "`tnactl function show NAME` says what a state means.");
    show_ = under("show", "one of them, with its rules and sockets", "Example: tnactl function show dns");
    add_ = under("add", "declare one until tnad ends, or declare it anew",
                 "Example: tnactl function add dns.toml\n"
                 "with packets of DNS that come in by eth0, for a program that runs as nobody:\n"
                 "  users = [\"nobody\"]\n  ports = [\"eth0\"]\n"
                 "  [[rule]]\n  protocol = \"udp\"\n  to_port = 53\n"
                 "What lies in /etc/tna/functions.d stays; tna-functions.d(5) has every setting.");
    remove_ = under("remove", "take one out that was added",
                    "Example: tnactl function remove dns\n"
                    "One that a file in /etc/tna/functions.d declares is removed with the file, and "
                    "`systemctl reload tnad`.");
    bypass_ = under("bypass", "leave its frames to Linux",
                    "Example: tnactl function bypass dns\n`tnactl function resume` ends that.");
    resume_ = under("resume", "steer its frames to it again", "Example: tnactl function resume dns");
    add_->add_option("FILE", file_, "its declaration")->required();
    add_->add_option("--name", name_, "what it is called (default: as the file)");
    for (auto* naming : {show_, remove_, bypass_, resume_})
        naming->add_option("NAME", name_, "as `tnactl function list` has it")->required();
}

Result<std::string> FunctionCommand::run(const Client& client, bool asJson) const {
    const auto tell = [&](const Result<json>& answer, auto render) -> Result<std::string> {
        if (!answer)
            return std::unexpected(answer.error());
        return asJson ? documentText(*answer, 2) : render(*answer);
    };
    const auto say = [&](const char* what) {
        return [this, what](const json&) { return printable(name_) + " " + what + "\n"; };
    };
    if (add_->parsed()) {
        const auto declaration = readNamedFile(file_, largestDeclaration);
        if (!declaration)
            return std::unexpected(declaration.error());
        return tell(client.put(pathOfFunction(name_.empty() ? functionNameOf(file_) : name_), *declaration),
                    renderFunction);
    }
    if (list_->parsed())
        return tell(client.get("/v1/functions"), renderFunctions);
    if (show_->parsed())
        return tell(client.get(pathOfFunction(name_)), renderFunction);
    if (remove_->parsed())
        return tell(client.remove(pathOfFunction(name_)), say("removed"));
    if (bypass_->parsed())
        return tell(client.post(pathOfFunction(name_) + "/bypass", json::object()), say("is bypassed"));
    return tell(client.post(pathOfFunction(name_) + "/resume", json::object()), say("gets its frames again"));
}

} // namespace tna::ctl
