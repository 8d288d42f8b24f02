// SPDX-License-Identifier: Apache-2.0
#include "tnactl/module_command.hpp"

#include "base/file.hpp"
#include "base/printable.hpp"
#include "cli/checks.hpp"
#include "tnactl/document.hpp"
#include "tnactl/table.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/ranges.h>

namespace tna::ctl {

namespace {
using nlohmann::json;

constexpr std::size_t largestObject = 64U << 20U;

/// monitor.bpf.o -> monitor
std::string nameOf(const std::string& file) {
    auto name = std::filesystem::path(file).filename().string();
    for (const char* suffix : {".o", ".bpf"})
        if (name.ends_with(suffix))
            name.resize(name.size() - std::string_view(suffix).size());
    return name;
}

std::string pathOf(const std::string& name) {
    return "/v1/modules/" + encoded(name);
}

std::string joined(const json& list, const char* none) {
    std::vector<std::string> texts;
    if (list.is_array())
        for (const auto& item : list)
            texts.push_back(printable(item.is_string() ? item.get<std::string>() : item.dump()));
    return texts.empty() ? none : fmt::format("{}", fmt::join(texts, ","));
}

std::string placesOf(const json& module) {
    std::vector<std::string> places;
    for (const auto& place : part(module, "places"))
        places.push_back(fmt::format("{}:{}", text(place, "port"), joined(part(place, "hooks"), "")));
    return places.empty() ? "nowhere" : fmt::format("{}", fmt::join(places, " "));
}

void addCounters(Table& table, const json& module, const std::string& name) {
    for (const auto& row : part(module, "counters")) {
        std::vector<std::string> cells{name, text(row, "hook")};
        for (const char* verdict : {"continue", "linux", "drop", "port", "socket", "faults"})
            cells.push_back(part(row, verdict).dump());
        table.add(std::move(cells));
    }
}

Table countersTable() {
    return Table{{"MODULE", "HOOK", "CONTINUE", "LINUX", "DROP", "PORT", "SOCKET", "FAULTS"}};
}

std::string renderModules(const json& document) {
    Table where{{"MODULE", "PRIORITY", "KEPT", "AT TCX", "IN PLACE AT"}};
    auto counters = countersTable();
    for (const auto& module : part(document, "modules")) {
        const auto name = text(module, "name");
        where.add({name, part(module, "priority").dump(), part(module, "kept") == true ? "yes" : "no",
                   joined(part(module, "tcx"), "no"), placesOf(module)});
        addCounters(counters, module, name);
    }
    return part(document, "modules").empty() ? "There are no custom modules.\n"
                                             : where.text() + "\n" + counters.text();
}

std::string renderModule(const json& module) {
    const auto name = text(module, "name");
    auto counters = countersTable();
    addCounters(counters, module, name);
    std::string shown = fmt::format(
        "{}: priority {}, ports {}, kinds {}, hooks {}\nfor ports at tcx: {}\nin place at {}\n\n{}", name,
        part(module, "priority").dump(), joined(part(module, "ports"), "all"),
        joined(part(module, "kinds"), "all"), joined(part(module, "hooks"), "all"),
        joined(part(module, "tcx"), "no"), placesOf(module), counters.text());
    if (part(module, "maps").empty())
        return shown;
    Table maps{{"MAP", "ID", "TYPE", "ROOM"}};
    for (const auto& map : part(module, "maps"))
        maps.add(
            {text(map, "name"), part(map, "id").dump(), text(map, "type"), part(map, "max_entries").dump()});
    return shown + "\n" + maps.text();
}

std::string renderMap(const json& document) {
    std::string shown;
    for (const auto& entry : part(document, "entries"))
        shown += fmt::format("{} = {}\n", text(entry, "key"), joined(part(entry, "values"), ""));
    return shown;
}
} // namespace

void ModuleCommand::describe(CLI::App& command) {
    command.require_subcommand(1);
    command.footer("Examples: tnactl module insert monitor.bpf.o --port 'eth*' --priority 10\n"
                   "          tnactl module show monitor --map flows\n"
                   "tna-fpm(7) tells how modules are written.");
    const auto under = [&](const char* name, const char* purpose) {
        return command.add_subcommand(name, purpose)->fallthrough();
    };
    insert_ = under("insert", "put one in place that was compiled with tna/module.h");
    replace_ = under("replace", "put another one in its place, without losing a frame");
    remove_ = under("remove", "take one out");
    list_ = under("list", "all of them: where they are and what they said");
    show_ = under("show", "one of them, or what one of its maps holds");
    for (auto* placing : {insert_, replace_}) {
        placing->add_option("FILE", file_, "the object")->required();
        placing->add_option("--name", name_, "what it is called (default: as the file)");
        placing->add_option("--hook", hooks_, "ingress, bridge, route or egress (default: all it has)");
        placing->add_option("--port", ports_, "shell pattern of port names (default: all)");
        placing->add_option("--kind", kinds_, "shell pattern of link kinds or drivers (default: all)");
        placing->add_option("--priority", priority_, "lower ones come first")
            ->capture_default_str()
            ->check(cli::wholeNumber(0, 65535));
    }
    for (auto* naming : {remove_, show_})
        naming->add_option("NAME", name_, "as `tnactl module list` has it")->required();
    show_->add_option("--map", map_, "one of its maps");
}

Result<json> ModuleCommand::place(const Client& client) const {
    const auto object = readNamedFile(file_, largestObject);
    if (!object)
        return std::unexpected(object.error());
    std::string path = pathOf(name_.empty() ? nameOf(file_) : name_) + fmt::format("?priority={}", priority_);
    if (replace_->parsed())
        path += "&replace=1";
    for (const auto& [key, values] :
         {std::pair{"hook", &hooks_}, std::pair{"port", &ports_}, std::pair{"kind", &kinds_}})
        for (const auto& value : *values)
            path += fmt::format("&{}={}", key, encoded(value));
    return client.put(path, *object);
}

Result<std::string> ModuleCommand::run(const Client& client, bool asJson) const {
    const auto tell = [&](const Result<json>& answer, auto render) -> Result<std::string> {
        if (!answer)
            return std::unexpected(answer.error());
        return asJson ? documentText(*answer, 2) : render(*answer);
    };
    if (insert_->parsed() || replace_->parsed())
        return tell(place(client), renderModule);
    if (remove_->parsed())
        return tell(client.remove(pathOf(name_)),
                    [&](const json&) { return printable(name_) + " removed\n"; });
    if (list_->parsed())
        return tell(client.get("/v1/modules"), renderModules);
    if (map_.empty())
        return tell(client.get(pathOf(name_)), renderModule);
    return tell(client.get(pathOf(name_) + "/maps/" + encoded(map_)), renderMap);
}

} // namespace tna::ctl
