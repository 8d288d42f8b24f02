// SPDX-License-Identifier: Apache-2.0
#include "tnactl/unknown_port.hpp"

#include "cli/near.hpp"
#include "tnactl/document.hpp"

#include <algorithm>
#include <fmt/ranges.h>

namespace tna::ctl {

namespace {
constexpr std::size_t mostNamed = 12;
constexpr std::size_t longestName = 15; // IFNAMSIZ, with its end
} // namespace

std::string portsHint(const std::string& port, const std::vector<std::string>& ports) {
    if (ports.empty())
        return "there are no ports here: no bridge has one, and nothing is routed";
    auto hint = cli::guess(port, ports);
    const auto some = std::vector(
        ports.begin(), ports.begin() + static_cast<std::ptrdiff_t>(std::min(ports.size(), mostNamed)));
    hint += fmt::format("{}the ports are {}", hint.empty() ? "" : " ", fmt::join(some, ", "));
    if (ports.size() > mostNamed)
        hint += fmt::format(" and {} more, see `tnactl status`", ports.size() - mostNamed);
    return hint;
}

Error namePorts(const Client& client, const std::string& port, Error error) {
    // What cannot be a name is not even found under the ports.
    const bool impossible = port.size() > longestName || port.find('/') != std::string::npos;
    const bool reached = error.code != ExitCode::unreachable && error.code != ExitCode::noPermission;
    if (port.empty() || !reached ||
        (!impossible && !error.what.starts_with(fmt::format("'{}' is not a port", port))))
        return error;
    const auto status = client.get("/v1/status");
    if (!status)
        return error;
    std::vector<std::string> ports;
    for (const auto& item : list(*status, "ports"))
        ports.push_back(raw(item, "name"));
    if (impossible)
        error.what = fmt::format("'{}' is not a port here: no name is longer than {} letters, or has a /",
                                 port, longestName);
    error.cause.clear();
    error.hint = portsHint(port, ports);
    return error;
}

Result<nlohmann::json> nameThePorts(const Client& client, const std::string& port,
                                    Result<nlohmann::json> answer) {
    return answer ? answer : std::unexpected(namePorts(client, port, std::move(answer.error())));
}

} // namespace tna::ctl
