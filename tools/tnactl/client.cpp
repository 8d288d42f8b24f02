// SPDX-License-Identifier: Apache-2.0
#include "tnactl/client.hpp"

#include <cctype>
#include <cerrno>
#include <grp.h>
#include <httplib.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace tna::ctl {

namespace {
constexpr int timeoutSeconds = 5;
constexpr int uploadTimeoutSeconds = 60; ///< the kernel verifies what is uploaded

httplib::Client connectTo(const std::string& socket) {
    httplib::Client client(socket, 80);
    client.set_address_family(AF_UNIX);
    client.set_connection_timeout(timeoutSeconds);
    client.set_read_timeout(timeoutSeconds);
    return client;
}

Error unreachable(const std::string& socket) {
    return {"tnad does not answer on " + socket,
            {},
            "is it running? `systemctl status tnad` tells, or name another --socket",
            ExitCode::unreachable};
}

std::string textOf(const nlohmann::json& object, const char* key) {
    return object.is_object() && object.contains(key) && object[key].is_string()
               ? object[key].get<std::string>()
               : "";
}

Result<nlohmann::json> understand(const httplib::Result& result, const std::string& socket) {
    if (!result)
        return std::unexpected(unreachable(socket));
    auto document = nlohmann::json::parse(result->body, nullptr, false);
    if (document.is_discarded())
        return std::unexpected(
            Error{"tnad's answer is not JSON", {}, "do tnad and tnactl have the same --version?"});
    if (result->status < 400)
        return document;
    const auto error =
        document.is_object() ? document.value("error", nlohmann::json::object()) : nlohmann::json::object();
    const auto what = textOf(error, "what");
    return std::unexpected(Error{what.empty() ? "tnad refused the request" : what, textOf(error, "cause"),
                                 textOf(error, "hint"),
                                 result->status == 403 ? ExitCode::noPermission : ExitCode::failure});
}
} // namespace

std::string encoded(const std::string& text) {
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string path;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if (std::isalnum(byte) != 0 || letter == '-' || letter == '_' || letter == '.') {
            path += letter;
            continue;
        }
        path += '%';
        path += digits[byte >> 4U];
        path += digits[byte & 15U];
    }
    return path;
}

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

Result<nlohmann::json> Client::get(const std::string& path) const {
    if (auto there = reachable(); !there)
        return std::unexpected(there.error());
    return understand(connectTo(socket_).Get(path), socket_);
}

Result<nlohmann::json> Client::put(const std::string& path, const std::string& body) const {
    if (auto there = reachable(); !there)
        return std::unexpected(there.error());
    auto client = connectTo(socket_);
    client.set_read_timeout(uploadTimeoutSeconds);
    return understand(client.Put(path, body, "application/octet-stream"), socket_);
}

Result<nlohmann::json> Client::remove(const std::string& path) const {
    if (auto there = reachable(); !there)
        return std::unexpected(there.error());
    return understand(connectTo(socket_).Delete(path), socket_);
}

Result<nlohmann::json> Client::post(const std::string& path, const nlohmann::json& body) const {
    if (auto there = reachable(); !there)
        return std::unexpected(there.error());
    const auto text = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return understand(connectTo(socket_).Post(path, text, "application/json"), socket_);
}

} // namespace tna::ctl
