// SPDX-License-Identifier: Apache-2.0
#include "tnactl/document.hpp"

#include "base/printable.hpp"

namespace tna::ctl {

using nlohmann::json;

json part(const json& document, const char* key) {
    return document.is_object() && document.contains(key) ? document[key] : json();
}

std::string raw(const json& document, const char* key) {
    const auto value = part(document, key);
    if (value.is_string())
        return value.get<std::string>();
    return value.is_null() ? std::string{} : value.dump();
}

std::string text(const json& document, const char* key) {
    return printable(raw(document, key));
}

std::string documentText(const json& document, int indent) {
    return document.dump(indent, ' ', true, json::error_handler_t::replace) + "\n";
}

double number(const json& document, const char* key) {
    const auto value = part(document, key);
    return value.is_number() ? value.get<double>() : 0;
}

json list(const json& document, const char* key) {
    auto value = part(document, key);
    return value.is_array() ? value : json::array();
}

bool yes(const json& document, const char* key) {
    return part(document, key) == true;
}

} // namespace tna::ctl
