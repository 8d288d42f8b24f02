// SPDX-License-Identifier: Apache-2.0
#include "daemon/function_files.hpp"

#include "base/file.hpp"
#include "base/folder.hpp"

#include <filesystem>
#include <set>
#include <spdlog/spdlog.h>
#include <utility>

namespace tna::daemon {

namespace {
namespace fs = std::filesystem;
constexpr std::string_view suffix = ".toml";
constexpr std::size_t largestFile = std::size_t{1} << 20U;
} // namespace

std::string FunctionFiles::pathOf(const std::string& directory, const std::string& name) {
    return (fs::path(directory) / name).string() + std::string(suffix);
}

Result<FunctionFiles::Changes>
FunctionFiles::read(const std::string& directory,
                    const std::function<bool(const std::string& name)>& declared) {
    const auto paths = filesIn(directory, suffix);
    if (!paths)
        return std::unexpected(paths.error());
    Changes changes;
    std::set<std::string> unreadable;
    for (const auto& path : *paths) {
        const auto base = fs::path(path).filename().string();
        const auto name = base.substr(0, base.size() - suffix.size());
        auto text = readNamedFile(path, largestFile, std::chrono::seconds(2));
        if (!text) {
            spdlog::error("network function {}: {}", name, text.error().sentence());
            unreadable.insert(name);
            continue;
        }
        changes.changed.emplace(name, std::move(*text));
    }
    for (auto& [name, text] : std::exchange(texts_, {})) {
        if (unreadable.contains(name) || !declared(name))
            continue;
        const auto now = changes.changed.find(name);
        if (now == changes.changed.end()) {
            changes.gone.push_back(name);
            continue;
        }
        if (now->second == text)
            changes.changed.erase(now);
        texts_.emplace(name, text);
    }
    return changes;
}

} // namespace tna::daemon
