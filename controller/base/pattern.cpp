// SPDX-License-Identifier: Apache-2.0
#include "base/pattern.hpp"

namespace tna {

namespace {
/// Behind a set that begins here; npos if it does not end.
std::size_t behindSet(const std::string& pattern, std::size_t at) {
    at++;
    if (at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^'))
        at++;
    const auto first = at;
    for (; at < pattern.size(); at++) {
        if (pattern[at] == '\\')
            at++;
        else if (pattern[at] == ']' && at > first)
            return at + 1;
        else if (pattern.compare(at, 2, "[:") == 0) { // a class: [[:digit:]]
            at = pattern.find(":]", at + 2);
            if (at == std::string::npos)
                return at;
            at++;
        }
    }
    return std::string::npos;
}
} // namespace

bool isPattern(const std::string& pattern) {
    for (std::size_t at = 0; at < pattern.size();) {
        if (pattern[at] == '[') {
            at = behindSet(pattern, at);
            if (at == std::string::npos)
                return false;
        } else if (pattern[at] == '\\') {
            if (at + 1 == pattern.size())
                return false;
            at += 2;
        } else {
            at++;
        }
    }
    return true;
}

std::string patternOf(const std::string& name) {
    std::string pattern;
    for (const char letter : name) {
        if (std::string_view("*?[]\\").find(letter) != std::string_view::npos)
            pattern += '\\';
        pattern += letter;
    }
    return pattern;
}

} // namespace tna
