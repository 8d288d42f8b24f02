// SPDX-License-Identifier: Apache-2.0
#include "api/server.hpp"

#include "api/metrics.hpp"
#include "base/unique_fd.hpp"

#include <filesystem>
#include <grp.h>
#include <httplib.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>

namespace tna::api {

namespace {
constexpr std::size_t largestRequest = 64 * 1024;
constexpr std::size_t threads = 4;
constexpr int timeoutSeconds = 5;
constexpr const char* jsonType = "application/json";

nlohmann::json errorDocument(const Error& error) {
    return {{"error", {{"what", error.what}, {"cause", error.cause}, {"hint", error.hint}}}};
}

void answer(httplib::Response& response, int status, const nlohmann::json& document) {
    response.status = status;
    response.set_content(document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n",
                         jsonType);
}

/// Whether somebody listens on a socket that lies there already.
bool somebodyAnswers(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    return fd && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

Result<void> clearPath(const std::string& path) {
    if (path.size() >= sizeof(sockaddr_un::sun_path))
        return std::unexpected(Error{fmt::format("the socket path {} is too long", path),
                                     fmt::format("{} bytes are the most", sizeof(sockaddr_un::sun_path) - 1),
                                     "choose another --socket", ExitCode::usage});
    std::error_code error;
    if (const auto directory = std::filesystem::path(path).parent_path(); !directory.empty())
        std::filesystem::create_directories(directory, error);
    if (error)
        return std::unexpected(Error{"cannot make the directory of the socket " + path, error.message(),
                                     "make it, or choose another --socket"});
    if (somebodyAnswers(path))
        return std::unexpected(
            Error{"another tnad is running", "it answers on " + path, "stop it, or choose another --socket"});
    if (std::filesystem::is_socket(path, error))
        std::filesystem::remove(path, error);
    else if (std::filesystem::exists(path, error))
        return std::unexpected(Error{"cannot make the socket " + path, "something else lies there",
                                     "remove it, or choose another --socket"});
    return {};
}

void setOwner(const std::string& path, const std::string& group) {
    const ::group* entry = group.empty() ? nullptr : ::getgrnam(group.c_str());
    if (entry == nullptr)
        spdlog::info("there is no group '{}': the socket is for root alone", group);
    else if (::chown(path.c_str(), static_cast<uid_t>(-1), entry->gr_gid) != 0)
        spdlog::warn("cannot give {} to the group '{}': {}", path, group, errnoText(errno));
    if (::chmod(path.c_str(), S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP) != 0)
        spdlog::warn("cannot set the mode of {}: {}", path, errnoText(errno));
}

class HttpServer : public Server {
public:
    HttpServer(Backend& backend, std::string path) : backend_(backend), path_(std::move(path)) {
        http_.set_address_family(AF_UNIX);
        http_.set_payload_max_length(largestRequest);
        http_.set_read_timeout(timeoutSeconds);
        http_.set_write_timeout(timeoutSeconds);
        http_.new_task_queue = [] { return new httplib::ThreadPool(threads); };
        addReaders();
        addWriters();
        http_.set_error_handler([](const httplib::Request&, httplib::Response& response) {
            if (response.body.empty())
                answer(response, response.status, errorDocument(refusal(response.status)));
        });
    }

    ~HttpServer() override {
        http_.stop();
        if (thread_.joinable())
            thread_.join();
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }

    bool listen() {
        // The socket must not be open to others before its mode is set.
        const auto before = ::umask(0117);
        const bool bound = http_.bind_to_port(path_, 80);
        ::umask(before);
        if (bound)
            thread_ = std::thread([this] { http_.listen_after_bind(); });
        return bound;
    }

private:
    void addReaders() {
        http_.Get("/v1/status",
                  [this](const auto&, auto& response) { answer(response, 200, backend_.status()); });
        http_.Get("/v1/events",
                  [this](const auto&, auto& response) { answer(response, 200, backend_.events()); });
        http_.Get("/v1/graph",
                  [this](const auto&, auto& response) { answer(response, 200, backend_.graph()); });
        http_.Get("/v1/capabilities",
                  [this](const auto&, auto& response) { answer(response, 200, backend_.capabilities()); });
        http_.Get("/metrics", [this](const auto&, auto& response) {
            response.set_content(metrics(backend_.status()), metricsType);
        });
        http_.Get(R"(/v1/ports/([^/]{1,64}))", [this](const httplib::Request& request, auto& response) {
            const std::string name = request.matches[1];
            if (const auto document = backend_.port(name))
                answer(response, 200, *document);
            else
                answer(response, 404, noSuchPort(name));
        });
        http_.Get(R"(/v1/ports/([^/]{1,64})/route)", [this](const httplib::Request& request, auto& response) {
            const auto document = backend_.route(request.matches[1], request.get_param_value("from"),
                                                 request.get_param_value("to"));
            if (document)
                answer(response, 200, *document);
            else
                answer(response, 400, errorDocument(document.error()));
        });
    }

    void addWriters() {
        http_.Post("/v1/pause",
                   [this](const auto& request, auto& response) { change(request, response, true); });
        http_.Post("/v1/resume",
                   [this](const auto& request, auto& response) { change(request, response, false); });
    }

    static Error refusal(int status) {
        if (status == 413)
            return {"the request is too large", fmt::format("{} bytes are the most", largestRequest), {}};
        if (status >= 500)
            return {"tnad could not answer", {}, "its log says more; please report it"};
        return {"there is no such thing here", {}, "see docs/api.md"};
    }

    static nlohmann::json noSuchPort(const std::string& name) {
        return errorDocument(
            {"'" + name + "' is not a port of a bridge here", {}, "`tnactl status` lists the ports"});
    }

    void change(const httplib::Request& request, httplib::Response& response, bool paused) {
        const auto body = nlohmann::json::parse(request.body.empty() ? "{}" : request.body, nullptr, false);
        if (!body.is_object() ||
            (body.contains("port") && !body["port"].is_string() && !body["port"].is_null()))
            return answer(
                response, 400,
                errorDocument({"the request is not {\"port\": NAME} or {}", {}, "see docs/api.md"}));
        std::optional<std::string> port;
        if (body.contains("port") && body["port"].is_string())
            port = body["port"].get<std::string>();
        if (!backend_.pause(port, paused))
            return answer(response, 404, noSuchPort(port.value_or("")));
        answer(response, 200,
               {{"paused", paused}, {"port", port ? nlohmann::json(*port) : nlohmann::json()}});
    }

    Backend& backend_;
    std::string path_;
    httplib::Server http_;
    std::thread thread_;
};
} // namespace

Result<std::unique_ptr<Server>> Server::start(Backend& backend, const std::string& path,
                                              const std::string& group) {
    if (auto cleared = clearPath(path); !cleared)
        return std::unexpected(cleared.error());
    auto server = std::make_unique<HttpServer>(backend, path);
    if (!server->listen())
        return std::unexpected(
            Error{"cannot listen on " + path, errnoText(errno), "choose another --socket"});
    setOwner(path, group);
    return server;
}

} // namespace tna::api
