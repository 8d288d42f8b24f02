// SPDX-License-Identifier: Apache-2.0
#include "config/characters.hpp"

#include <algorithm>
#include <string_view>

namespace tna::config {

namespace {
using At = std::string::const_iterator;

bool control(char c) {
    const auto code = static_cast<unsigned char>(c);
    return (code < ' ' && c != '\t' && c != '\n' && c != '\r') || code == 0x7f;
}

bool foreign(char c) {
    return (static_cast<unsigned char>(c) & 0x80U) != 0;
}

/// Behind a string that begins here; the end if it has none.
At behindString(At at, At end) {
    const char quote = *at;
    const auto left = static_cast<std::size_t>(end - at);
    const std::string triple(3, quote);
    const bool many = left >= triple.size() && std::string_view(&*at, triple.size()) == triple;
    const std::string_view close(triple.data(), many ? triple.size() : 1);
    at += static_cast<std::ptrdiff_t>(close.size());
    while (at != end) {
        if (std::string_view(&*at, static_cast<std::size_t>(end - at)).starts_with(close))
            return at + static_cast<std::ptrdiff_t>(close.size());
        if (*at == '\n' && !many)
            return at;
        at += *at == '\\' && quote == '"' && at + 1 != end ? 2 : 1;
    }
    return end;
}
} // namespace

std::string asciiOf(std::string text) {
    std::ranges::replace_if(text, foreign, 'z');
    return text;
}

std::optional<At> findControl(const std::string& text) {
    const auto found = std::ranges::find_if(text, control);
    return found == text.end() ? std::nullopt : std::optional(found);
}

std::optional<At> findStray(const std::string& text) {
    for (auto at = text.begin(); at != text.end();) {
        if (*at == '#')
            at = std::find(at, text.end(), '\n');
        else if (*at == '"' || *at == '\'')
            at = behindString(at, text.end());
        else if (foreign(*at))
            return at;
        else
            ++at;
    }
    return std::nullopt;
}

} // namespace tna::config
