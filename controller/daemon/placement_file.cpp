// SPDX-License-Identifier: Apache-2.0
#include "daemon/placement_file.hpp"

#include "base/file.hpp"
#include "base/pattern.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

namespace tna::daemon {

namespace {
using nlohmann::json;

constexpr std::size_t largestPlacement = std::size_t{1} << 20U;
const std::set<std::string> known{"hooks", "kinds", "ports", "priority"};

/// Of one file. The first thing that is wrong is what is told.
class PlacementReader {
public:
    explicit PlacementReader(std::string path) : path_(std::move(path)) {}

    [[nodiscard]] Result<api::Placement> read(const json& document, const std::set<std::string>& besides) {
        if (!document.is_object())
            return std::unexpected(wrong("must be a JSON object"));
        api::Placement placement;
        for (const auto& [key, value] : document.items())
            if (!take(placement, key, value) && !besides.contains(key))
                complain(fmt::format("has a field '{}' that there is not", key));
        if (error_)
            return std::unexpected(*error_);
        return placement;
    }

private:
    [[nodiscard]] bool take(api::Placement& placement, const std::string& key, const json& value) {
        if (key == "hooks")
            placement.hooks = strings(key, value);
        else if (key == "ports" || key == "kinds")
            (key == "ports" ? placement.ports : placement.kinds) = patterns(key, value);
        else if (key == "priority")
            placement.priority = priority(value);
        return known.contains(key);
    }
    [[nodiscard]] std::vector<std::string> strings(const std::string& key, const json& value) {
        if (value.is_array() && std::ranges::all_of(value, [](const auto& item) { return item.is_string(); }))
            return value.get<std::vector<std::string>>();
        complain(fmt::format(R"(must have a list of strings as '{}', for instance ["{}"])", key,
                             key == "hooks" ? "ingress" : "eth*"));
        return {};
    }
    [[nodiscard]] std::vector<std::string> patterns(const std::string& key, const json& value) {
        auto list = strings(key, value);
        for (const auto& pattern : list)
            if (!isPattern(pattern))
                complain(fmt::format("has '{}' among '{}', which is no shell pattern", pattern, key));
        return list;
    }
    [[nodiscard]] int priority(const json& value) {
        if (value.is_number_unsigned() && value <= api::Placement::mostPriority)
            return value.get<int>();
        complain(
            fmt::format("must have a whole number from 0 to {} as 'priority'", api::Placement::mostPriority));
        return 0;
    }
    [[nodiscard]] Error wrong(const std::string& how) const {
        return {fmt::format("{} {}", path_, how), {}, fmt::format("known there: {}", fmt::join(known, ", "))};
    }
    void complain(const std::string& how) {
        if (!error_)
            error_ = wrong(how);
    }

    std::string path_;
    std::optional<Error> error_;
};
} // namespace

std::uint64_t hashOf(const std::string& object) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const auto byte : object)
        hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3U;
    return hash;
}

json placementDocument(const api::Placement& placement) {
    return {{"hooks", placement.hooks},
            {"ports", placement.ports},
            {"kinds", placement.kinds},
            {"priority", placement.priority}};
}

Result<api::Placement> readPlacement(const std::string& path, const std::string& object) {
    std::error_code error;
    if (std::filesystem::symlink_status(path, error).type() == std::filesystem::file_type::not_found)
        return api::Placement{};
    const auto text = readNamedFile(path, largestPlacement, patienceWithFiles);
    if (!text)
        return std::unexpected(text.error());
    const auto document = json::parse(*text, nullptr, false);
    const bool forAnother = document.is_object() && document.contains("for") && document.contains("before");
    if (forAnother && document["for"] != hashOf(object))
        return PlacementReader{path}.read(document["before"], {});
    return PlacementReader{path}.read(document, forAnother ? std::set<std::string>{"for", "before"}
                                                           : std::set<std::string>{});
}

} // namespace tna::daemon
