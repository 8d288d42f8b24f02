// SPDX-License-Identifier: Apache-2.0
#include "tnactl/client.hpp"

#include "tnactl/document.hpp"

#include <cerrno>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tna::ctl {

namespace {

Error unreachable(const std::string& socket, const std::string& why = {}) {
    return {"tnad does not answer on " + socket, why,
            "is it running? `systemctl status tnad` tells, or name another --socket", ExitCode::unreachable};
}

std::string textOf(const nlohmann::json& document) {
    return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<nlohmann::json> understand(const client::Answer& answer, const std::string& socket) {
    if (answer.status == 0)
        return std::unexpected(unreachable(socket, answer.error));
    auto document = nlohmann::json::parse(answer.body, nullptr, false);
    if (document.is_discarded())
        return std::unexpected(
            Error{"tnad's answer is not JSON", {}, "do tnad and tnactl have the same --version?"});
    if (answer.status < 400)
        return document;
    const auto error = part(document, "error");
    const auto what = raw(error, "what");
    return std::unexpected(Error{what.empty() ? "tnad refused the request" : what, raw(error, "cause"),
                                 raw(error, "hint"),
                                 answer.status == 403 ? ExitCode::noPermission : ExitCode::failure});
}
} // namespace

std::string pathOfPort(const std::string& name) {
    return "/v1/ports/" + encoded(name);
}

std::string pathOfRoute(const std::string& port, const std::string& from, const std::string& to) {
    return pathOfPort(port) + "/route?from=" + encoded(from) + "&to=" + encoded(to);
}

Result<void> Client::reachable() const {
    if (::access(socket_.c_str(), R_OK | W_OK) == 0)
        return {};
    if (errno == EACCES) {
        struct stat status{};
        const bool seen = ::stat(socket_.c_str(), &status) == 0 && status.st_gid != 0;
        const ::group* group = seen ? ::getgrgid(status.st_gid) : nullptr;
        return std::unexpected(Error{"you may not use " + socket_, errnoText(EACCES),
                                     group == nullptr
                                         ? "run as root"
                                         : fmt::format("run as root, or join the group {}", group->gr_name),
                                     ExitCode::noPermission});
    }
    return std::unexpected(unreachable(socket_));
}

Result<nlohmann::json> Client::ask(const char* method, const std::string& path, const std::string& body,
                                   std::chrono::milliseconds longest) const {
    if (auto there = reachable(); !there)
        return std::unexpected(there.error());
    return understand(client::Daemon(socket_).request(method, path, body, longest), socket_);
}

Result<nlohmann::json> Client::get(const std::string& path, std::chrono::milliseconds longest) const {
    return ask("GET", path, {}, longest);
}

Result<nlohmann::json> Client::put(const std::string& path, const std::string& body) const {
    return ask("PUT", path, body, client::Daemon::verification);
}

Result<nlohmann::json> Client::remove(const std::string& path) const {
    return ask("DELETE", path);
}

Result<nlohmann::json> Client::post(const std::string& path, const nlohmann::json& body) const {
    return ask("POST", path, textOf(body));
}

Result<void> Client::follow(const char* method, const std::string& path, const nlohmann::json& body,
                            const std::function<bool(const nlohmann::json&)>& onDocument) const {
    if (auto there = reachable(); !there)
        return std::unexpected(there.error());
    const auto answer = client::Daemon(socket_).follow(
        path,
        [&](std::string_view line) {
            const auto document = nlohmann::json::parse(line, nullptr, false);
            return document.is_discarded() || onDocument(document);
        },
        method, textOf(body));
    if (answer.good())
        return {};
    auto refused = understand(answer, socket_);
    return refused ? Result<void>{} : std::unexpected(refused.error());
}

} // namespace tna::ctl
