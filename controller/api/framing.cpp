// SPDX-License-Identifier: Apache-2.0
#include "api/framing.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace tna::api {

namespace {
constexpr std::string_view endOfLine = "\r\n";
constexpr std::string_view endOfHead = "\r\n\r\n";

char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool same(std::string_view text, std::string_view lowered) {
    return std::ranges::equal(text, lowered, {}, lower);
}

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos)
        return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Too much for a number is too much for a body.
std::size_t lengthOf(std::string_view text) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    return error == std::errc::result_out_of_range ? std::numeric_limits<std::size_t>::max() : length;
}
} // namespace

std::optional<Framing> framingOf(std::string_view received) {
    const auto end = received.find(endOfHead);
    if (end == std::string_view::npos)
        return std::nullopt;
    Framing framing{.head = end + endOfHead.size()};
    framing.looks = received.starts_with("GET ") || received.starts_with("HEAD ");
    bool lengthKnown = false;
    auto lines = received.substr(0, end + endOfLine.size());
    for (auto at = lines.find(endOfLine); at + endOfLine.size() < lines.size(); at = lines.find(endOfLine)) {
        lines.remove_prefix(at + endOfLine.size());
        const auto line = lines.substr(0, lines.find(endOfLine));
        const auto colon = line.find(':');
        if (colon == std::string_view::npos)
            continue;
        const auto name = line.substr(0, colon);
        const auto value = trimmed(line.substr(colon + 1));
        if (same(name, "content-length") && !lengthKnown) {
            framing.body = lengthOf(value);
            lengthKnown = true;
        }
        if (same(name, "expect") && same(value, "100-continue"))
            framing.awaitsContinue = true;
    }
    return framing;
}

std::string withoutHeaders(std::string_view request, std::span<const std::string_view> names) {
    std::string rest;
    rest.reserve(request.size());
    for (bool first = true; !request.empty(); first = false) {
        const auto line = request.substr(0, std::min(request.find('\n'), request.size() - 1) + 1);
        if (line == endOfLine)
            break;
        const auto name = trimmed(line.substr(0, line.find(':')));
        if (first || std::ranges::none_of(names, [&](auto unwanted) { return same(name, unwanted); }))
            rest += line;
        request.remove_prefix(line.size());
    }
    return rest.append(request);
}

} // namespace tna::api
