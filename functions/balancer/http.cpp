// SPDX-License-Identifier: Apache-2.0
#include "http.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace tna::balancer {

std::string httpRequest(const std::string& path, const std::string& host) {
    return fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: tna-balancer\r\nConnection: close\r\n\r\n",
                       path, host);
}

std::optional<std::string> httpVerdict(const std::string& answer, bool ended) {
    constexpr std::string_view begin = "HTTP/1.";
    constexpr std::size_t status = begin.size() + 2, digits = 3, needed = status + digits + 1;
    const std::string_view got = answer;
    if (!begin.starts_with(got.substr(0, begin.size())))
        return "what it answers is not HTTP";
    if (got.size() < needed)
        return ended ? std::optional<std::string>("it ends without an answer") : std::nullopt;
    const auto number = got.substr(status, digits);
    const auto behind = got[status + digits];
    const bool isStatus = got[status - 1] == ' ' && (behind == ' ' || behind == '\r' || behind == '\n') &&
                          std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
    if (!isStatus)
        return "what it answers is not HTTP";
    return number == "200" ? "" : fmt::format("HTTP status {}", number);
}

} // namespace tna::balancer
