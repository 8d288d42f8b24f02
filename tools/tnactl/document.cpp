// SPDX-License-Identifier: Apache-2.0
#include "tnactl/document.hpp"

namespace tna::ctl {

using nlohmann::json;

json part(const json& document, const char* key) {
    return document.is_object() && document.contains(key) ? document[key] : json();
}

std::string text(const json& document, const char* key) {
    const auto value = part(document, key);
    if (value.is_string())
        return value.get<std::string>();
    return value.is_null() ? std::string{} : value.dump();
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
