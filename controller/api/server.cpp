// SPDX-License-Identifier: Apache-2.0
#include "api/server.hpp"

#include "api/front.hpp"
#include "api/http.hpp"
#include "api/metrics.hpp"
#include "api/requests.hpp"
#include "api/stream_places.hpp"
#include "base/log_fields.hpp"
#include "base/printable.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
#include <unistd.h>

namespace tna::api {

namespace {
constexpr std::size_t largestRequest = 64 * 1024;
constexpr std::size_t largestUpload = std::size_t{1} << 20U; ///< of a custom module
constexpr const char* jsonType = "application/json";

nlohmann::json errorDocument(const Error& error) {
    return {{"error", {{"what", error.what}, {"cause", error.cause}, {"hint", error.hint}}}};
}

/// In ASCII: names of interfaces may have anything in them, and answers are read in terminals. Documents say
/// which version they are of.
void answer(httplib::Response& response, int status, nlohmann::json document) {
    response.status = status;
    if (status == 200)
        document["api"] = 1;
    response.set_content(document.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n",
                         jsonType);
}

Error failure(const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
        return {"there is not enough memory for an answer",
                {},
                "more than the machine has, or than a limit allows (MemoryMax= in the unit, `ulimit -v`)"};
    } catch (const std::exception& error) {
        return {"tnad could not answer", error.what(), "please report it"};
    }
}

class HttpServer : public Server {
public:
    HttpServer(Backend& backend, Listening listening, std::string changeGroup)
        : backend_(backend), listening_(std::move(listening)), changeGroup_(std::move(changeGroup)),
          changers_(idOf(changeGroup_)),
          http_([this](const Peer& peer) { return mayChange(peer) ? largestUpload : largestRequest; },
                [this](const Peer& peer) { return mayChange(peer); }) {
        http_.set_payload_max_length(largestUpload);
        http_.set_pre_routing_handler(
            [this](const auto& request, auto& response) { return refuse(request, response); });
        addReaders();
        addWriters();
        addModules();
        addFunctions();
        http_.set_error_handler([](const httplib::Request&, httplib::Response& response) {
            if (response.body.empty())
                answer(response, response.status, errorDocument(refusal(response.status)));
        });
        http_.set_exception_handler(
            [](const httplib::Request&, httplib::Response& response, const std::exception_ptr& thrown) {
                answer(response, 500, errorDocument(failure(thrown)));
            });
    }

    [[nodiscard]] Result<void> serve() {
        auto front = Front::start(listening_.take(), http_);
        if (!front)
            return std::unexpected(front.error());
        front_ = std::move(*front);
        return {};
    }

private:
    /// Before anything of the body is read.
    [[nodiscard]] httplib::Server::HandlerResponse refuse(const httplib::Request& request,
                                                          httplib::Response& response) const {
        // With nonsense for a length, the library's own limit holds.
        const auto length = std::strtoull(request.get_header_value("Content-Length").c_str(), nullptr, 10);
        int status = 0;
        if (length > largestUpload ||
            (length > largestRequest &&
             !(request.path.starts_with("/v1/modules/") && mayChange(Http::peer()))))
            status = 413;
        // Requests are there as a whole when they are looked at; of others, nobody knows when that is.
        if (request.has_header("Transfer-Encoding") ||
            ((request.method == "POST" || request.method == "PUT") && !request.has_header("Content-Length")))
            status = 411;
        if (status == 0)
            return httplib::Server::HandlerResponse::Unhandled;
        answer(response, status, errorDocument(refusal(status)));
        return httplib::Server::HandlerResponse::Handled;
    }

    void addReaders() {
        http_.Get("/v1/status",
                  [this](const auto&, auto& response) { answer(response, 200, backend_.status()); });
        http_.Get("/v1/events",
                  [this](const auto&, auto& response) { answer(response, 200, backend_.events()); });
        http_.Get("/v1/events/stream", [this](const auto& request, auto& response) {
            stream(request, response, [this](const auto& lines) -> Result<std::shared_ptr<void>> {
                backend_.follow(lines);
                return nullptr;
            });
        });
        http_.Get("/v1/graph",
                  [this](const auto&, auto& response) { answer(response, 200, backend_.graph()); });
        http_.Get("/v1/capabilities",
                  [this](const auto&, auto& response) { answer(response, 200, backend_.capabilities()); });
        http_.Get("/v1/rules",
                  [this](const auto&, auto& response) { answer(response, 200, backend_.rules()); });
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
        http_.Post("/v1/pause", ifAllowed([this](const auto& request, auto& response) {
                       change(request, response, true);
                   }));
        http_.Post("/v1/resume", ifAllowed([this](const auto& request, auto& response) {
                       change(request, response, false);
                   }));
        http_.Post("/v1/trace",
                   ifAllowed([this](const auto& request, auto& response) { trace(request, response); }));
    }

    [[nodiscard]] bool mayChange(const Peer& peer) const {
        return peer.user == 0 || peer.user == ::geteuid() ||
               (changers_ && std::ranges::find(peer.groups, *changers_) != peer.groups.end());
    }

    /// Answers with lines, if there is a place for one more who follows them.
    template <typename Open>
    void stream(const httplib::Request& request, httplib::Response& response, Open open) {
        if (request.method == "HEAD")
            return;
        auto place = places_.take(Http::peer().user);
        if (!place)
            return answer(response, 503, errorDocument(refusal(503)));
        auto lines = std::make_shared<LineSink>();
        auto source = open(lines);
        if (!source)
            return answer(response, 400, errorDocument(source.error()));
        using Both = std::pair<std::shared_ptr<void>, std::shared_ptr<void>>;
        Http::answerWith({lines, std::make_shared<Both>(std::move(place), std::move(*source))});
    }

    void trace(const httplib::Request& request, httplib::Response& response) {
        const auto wish = traceWish(request.body);
        if (!wish)
            return answer(response, 400, errorDocument(wish.error()));
        stream(request, response, [&](const auto& lines) { return backend_.trace(*wish, lines); });
    }

    /// Refusals are told once a second at most: whoever may do nothing else could fill the log with them.
    [[nodiscard]] bool mayTell() {
        const auto now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::seconds(1);
        return toldAt_.exchange(now) != now;
    }

    /// Checked when the request is there as a whole, so that who sent it reads the refusal.
    httplib::Server::Handler ifAllowed(httplib::Server::Handler handler) {
        return [this, handler = std::move(handler)](const auto& request, auto& response) {
            const auto& peer = Http::peer();
            const bool allowed = mayChange(peer);
            const LogFields about{{"TNA_USER", std::to_string(peer.user)}};
            if (allowed || mayTell())
                spdlog::info("user {} asks for {} {}{}", peer.user, request.method, request.path,
                             allowed ? "" : ", which is refused");
            if (allowed)
                return handler(request, response);
            answer(response, 403,
                   errorDocument(
                       {"you may look, but change nothing",
                        changers_ ? fmt::format("that is for root and members of the group {}", changeGroup_)
                                  : "that is for root",
                        "see 'change_group' under [daemon] in the configuration"}));
        };
    }

    void addModules() {
        const char* one = R"(/v1/modules/([A-Za-z0-9_.-]{1,32}))";
        http_.Get("/v1/modules",
                  [this](const auto&, auto& response) { answer(response, 200, backend_.modules().list()); });
        http_.Get(one, [this](const httplib::Request& request, auto& response) {
            tell(response, backend_.modules().find(request.matches[1], std::nullopt));
        });
        http_.Get(std::string(one) + R"(/maps/([A-Za-z0-9_.]{1,64}))",
                  [this](const httplib::Request& request, auto& response) {
                      tell(response, backend_.modules().find(request.matches[1], request.matches[2]));
                  });
        http_.Put(one, ifAllowed([this](const auto& request, auto& response) { place(request, response); }));
        http_.Delete(one,
                     ifAllowed([this](const auto& request, auto& response) { takeOut(request, response); }));
    }

    void takeOut(const httplib::Request& request, httplib::Response& response) {
        const std::string name = request.matches[1];
        if (const auto removed = backend_.modules().remove(name); !removed)
            answer(response, 500, errorDocument(removed.error()));
        else if (!*removed)
            tell(response, std::nullopt);
        else
            answer(response, 200, {{"removed", name}});
    }

    static void tell(httplib::Response& response, const std::optional<nlohmann::json>& document) {
        if (document)
            answer(response, 200, *document);
        else
            answer(response, 404,
                   errorDocument({"there is no such custom module, or it has no such map",
                                  {},
                                  "`tnactl module list` lists them"}));
    }

    void place(const httplib::Request& request, httplib::Response& response) {
        if (!isModuleName(request.matches[1]))
            return answer(response, 400,
                          errorDocument({"this is no name for a custom module",
                                         {},
                                         "it begins with a letter, a digit or _; then . and - may follow"}));
        const auto wish = placeWish({request.params.begin(), request.params.end()});
        if (!wish)
            return answer(response, 400, errorDocument(wish.error()));
        const auto placed =
            backend_.modules().place(request.matches[1], request.body, wish->placement, wish->replace);
        if (placed)
            answer(response, 200, *placed);
        else
            answer(response, 400, errorDocument(placed.error()));
    }

    void addFunctions() {
        const char* one = R"(/v1/functions/([^/]{1,255}))";
        http_.Get("/v1/functions", [this](const auto&, auto& response) {
            answer(response, 200, backend_.functions().list());
        });
        http_.Get(one, [this](const httplib::Request& request, auto& response) {
            if (const auto document = backend_.functions().find(request.matches[1]))
                answer(response, 200, *document);
            else
                answer(response, 404, noSuchFunction(request.matches[1]));
        });
        http_.Put(one, ifAllowed([this](const auto& request, auto& response) {
                      const auto added = backend_.functions().declare(request.matches[1], request.body);
                      if (added)
                          answer(response, 200, *added);
                      else
                          answer(response, 400, errorDocument(added.error()));
                  }));
        http_.Delete(one, ifAllowed([this](const auto& request, auto& response) {
                         const std::string name = request.matches[1];
                         changed(response, name, backend_.functions().remove(name), {{"removed", name}});
                     }));
        for (const bool bypassed : {true, false})
            http_.Post(std::string(one) + (bypassed ? "/bypass" : "/resume"),
                       ifAllowed([this, bypassed](const auto& request, auto& response) {
                           const std::string name = request.matches[1];
                           changed(response, name, backend_.functions().bypass(name, bypassed),
                                   {{"function", name}, {"bypassed", bypassed}});
                       }));
    }

    static nlohmann::json noSuchFunction(const std::string& name) {
        return errorDocument({fmt::format("there is no network function '{}'", printable(name)),
                              {},
                              "`tnactl function list` lists them"});
    }

    static void changed(httplib::Response& response, const std::string& name, const Result<bool>& done,
                        const nlohmann::json& document) {
        if (!done)
            answer(response, 400, errorDocument(done.error()));
        else if (!*done)
            answer(response, 404, noSuchFunction(name));
        else
            answer(response, 200, document);
    }

    static Error refusal(int status) {
        if (status == 413)
            return {
                "the request is too large",
                fmt::format("{} bytes are the most, {} of a custom module", largestRequest, largestUpload),
                {}};
        if (status == 411)
            return {"the request does not say how long it is", {}, "with curl: `--data '{}'`"};
        if (status == 503)
            return {
                "too many follow already",
                fmt::format("{} is the most, {} of one user", StreamPlaces::most, StreamPlaces::mostOfOne),
                "end one of them"};
        if (status == 414)
            return {"what is asked for has too long a name",
                    fmt::format("{} bytes are the most", CPPHTTPLIB_REQUEST_URI_MAX_LENGTH),
                    {}};
        if (status != 404)
            return {"the request is not understood",
                    "it is not as HTTP/1.1 has it, or its method is none of those used here",
                    "see docs/api.md"};
        return {"there is no such thing here", {}, "see docs/api.md"};
    }

    static nlohmann::json noSuchPort(const std::string& name) {
        return errorDocument({"'" + name + "' is not a port of a bridge or a router here",
                              {},
                              "`tnactl status` lists the ports"});
    }

    void change(const httplib::Request& request, httplib::Response& response, bool paused) {
        const auto port = portOrAll(request.body);
        if (!port)
            return answer(response, 400, errorDocument(port.error()));
        if (!backend_.pause(*port, paused))
            return answer(response, 404, noSuchPort(port->value_or("")));
        answer(response, 200,
               {{"paused", paused}, {"port", *port ? nlohmann::json(**port) : nlohmann::json()}});
    }

    Backend& backend_;
    Listening listening_;
    std::string changeGroup_;
    std::optional<gid_t> changers_;
    Http http_;
    StreamPlaces places_;
    std::atomic<std::int64_t> toldAt_ = -1; ///< of a refusal, in seconds
    std::unique_ptr<Front> front_;
};
} // namespace

Result<std::unique_ptr<Server>> Server::start(Backend& backend, Listening listening, const Access& access) {
    if (!idOf(access.group))
        spdlog::info("there is no group '{}': the socket is for root alone", access.group);
    auto server = std::make_unique<HttpServer>(backend, std::move(listening), access.changeGroup);
    if (auto served = server->serve(); !served)
        return std::unexpected(served.error());
    return server;
}

Result<std::unique_ptr<Server>> Server::start(Backend& backend, const std::string& path,
                                              const Access& access) {
    auto listening = listenOn(path, access.group);
    if (!listening)
        return std::unexpected(listening.error());
    return start(backend, std::move(*listening), access);
}

} // namespace tna::api
