// SPDX-License-Identifier: Apache-2.0
#include "api/requests.hpp"

#include "base/pattern.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

namespace tna::api {

namespace {
using nlohmann::json;

constexpr unsigned mostInOne = 1U << 30U; ///< packets, of which one is traced
constexpr std::size_t longestName = 32;

Result<json> objectOf(const std::string& body, const std::set<std::string>& known, const char* expected) {
    auto document = json::parse(body, nullptr, false);
    if (!document.is_object())
        return std::unexpected(Error{fmt::format("the request is not {}", expected),
                                     body.empty() ? "it is empty" : "", "see docs/api.md"});
    for (const auto& [key, value] : document.items())
        if (!known.contains(key))
            return std::unexpected(Error{fmt::format("there is no field '{}'", key),
                                         {},
                                         fmt::format("known here: {}", fmt::join(known, ", "))});
    return document;
}

bool readPriority(const std::string& text, int& priority) {
    unsigned number = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || rest != end || number > Placement::mostPriority)
        return false;
    priority = static_cast<int>(number);
    return true;
}

/// Null where it is not there.
json field(const json& document, const char* name) {
    return document.contains(name) ? document[name] : json();
}
} // namespace

Result<std::optional<std::string>> portOrAll(const std::string& body) {
    constexpr const char* expected = R"({"port": NAME} or {"all": true})";
    const auto document = objectOf(body, {"all", "port"}, expected);
    if (!document)
        return std::unexpected(document.error());
    const auto port = field(*document, "port"), all = field(*document, "all");
    const bool good = (port.is_string() || port.is_null()) && (all.is_null() || all == true) &&
                      !(port.is_string() && all == true);
    if (!good)
        return std::unexpected(Error{fmt::format("the request is not {}", expected), {}, "see docs/api.md"});
    return port.is_string() ? std::optional{port.get<std::string>()} : std::nullopt;
}

Result<TraceWish> traceWish(const std::string& body) {
    constexpr const char* expected = R"({"port": NAME, "every": NUMBER}, both optional)";
    const auto document = objectOf(body.empty() ? "{}" : body, {"every", "port"}, expected);
    if (!document)
        return std::unexpected(document.error());
    const auto port = field(*document, "port");
    const auto oneIn = document->value("every", json(1U));
    if (!(port.is_string() || port.is_null()) || !oneIn.is_number_unsigned() || oneIn < 1U ||
        oneIn > mostInOne)
        return std::unexpected(Error{fmt::format("the request is not {}", expected), {}, "see docs/api.md"});
    TraceWish wish{.oneIn = oneIn.get<unsigned>()};
    if (port.is_string())
        wish.port = port.get<std::string>();
    return wish;
}

Result<PlaceWish> placeWish(const std::multimap<std::string, std::string>& parameters) {
    const auto wrong = [](std::string what) {
        return std::unexpected(Error{std::move(what), {}, "see docs/api.md"});
    };
    PlaceWish wish;
    auto& placement = wish.placement;
    for (const auto& [key, value] : parameters) {
        if ((key == "port" || key == "kind") && !isPattern(value))
            return wrong(fmt::format("'{}' is no shell pattern", value));
        if (key == "hook")
            placement.hooks.push_back(value);
        else if (key == "port")
            placement.ports.push_back(value);
        else if (key == "kind")
            placement.kinds.push_back(value);
        else if (key == "replace" && (value == "0" || value == "1"))
            wish.replace = value == "1";
        else if (key == "replace")
            return wrong("'replace' must be 0 or 1");
        else if (key != "priority")
            return wrong(fmt::format("'{}' is not understood", key));
        else if (!readPriority(value, placement.priority))
            return wrong(
                fmt::format("'priority' must be a whole number from 0 to {}", Placement::mostPriority));
    }
    return wish;
}

bool isModuleName(const std::string& name) {
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    return !name.empty() && name.size() <= longestName && letter(name.front()) &&
           std::ranges::all_of(name, [&](char c) { return letter(c) || c == '.' || c == '-'; });
}

} // namespace tna::api
