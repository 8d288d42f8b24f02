// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

/// Reads of tnad's answers what there is: another version's, or another program's, may have anything in any
/// place.
namespace tna::ctl {

/// What is there, or null.
[[nodiscard]] nlohmann::json part(const nlohmann::json& document, const char* key);
/// A text as it is, nothing as no text, anything else as it is written in JSON.
/// As it is in the document: for comparing, not for showing.
[[nodiscard]] std::string raw(const nlohmann::json& document, const char* key);
[[nodiscard]] std::string text(const nlohmann::json& document, const char* key);
/// For programs, on one line or indented; pure ASCII, so that no name in it controls a terminal.
[[nodiscard]] std::string documentText(const nlohmann::json& document, int indent = -1);
[[nodiscard]] double number(const nlohmann::json& document, const char* key);
[[nodiscard]] nlohmann::json list(const nlohmann::json& document, const char* key);
[[nodiscard]] bool yes(const nlohmann::json& document, const char* key);

} // namespace tna::ctl
