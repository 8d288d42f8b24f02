// SPDX-License-Identifier: Apache-2.0
#include "api/metrics_server.hpp"

#include "api/front.hpp"
#include "api/http.hpp"
#include "api/metrics.hpp"

#include <arpa/inet.h>
#include <charconv>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <sys/socket.h>

namespace tna::api {

namespace {
constexpr std::size_t largestQuestion = 4096;

union Place {
    sockaddr_in6 six;
    sockaddr_in four;
    sockaddr any;
};

std::optional<Place> placeOf(const std::string& address) {
    const auto colon = address.rfind(':');
    if (colon == std::string::npos)
        return std::nullopt;
    auto host = address.substr(0, colon);
    const bool six = host.starts_with('[') && host.ends_with(']');
    if (six)
        host = host.substr(1, host.size() - 2);
    std::uint16_t port = 0;
    const char* end = address.data() + address.size();
    const auto [rest, error] = std::from_chars(address.data() + colon + 1, end, port);
    Place place{};
    place.any.sa_family = six ? AF_INET6 : AF_INET;
    (six ? place.six.sin6_port : place.four.sin_port) = htons(port);
    void* parsed = six ? static_cast<void*>(&place.six.sin6_addr) : &place.four.sin_addr;
    if (error != std::errc{} || rest != end || port == 0 ||
        ::inet_pton(place.any.sa_family, host.c_str(), parsed) != 1)
        return std::nullopt;
    return place;
}

class HttpMetrics : public MetricsServer {
public:
    explicit HttpMetrics(std::function<nlohmann::json()> status) : status_(std::move(status)) {
        http_.Get("/metrics", [this](const auto&, auto& response) {
            response.set_content(metrics(status_()), metricsType);
        });
    }
    [[nodiscard]] Result<void> serve(UniqueFd listening) {
        auto front = Front::start(std::move(listening), http_);
        if (!front)
            return std::unexpected(front.error());
        front_ = std::move(*front);
        return {};
    }

private:
    std::function<nlohmann::json()> status_;
    Http http_{[](const Peer&) { return largestQuestion; }};
    std::unique_ptr<Front> front_;
};
} // namespace

Result<UniqueFd> MetricsServer::listen(const std::string& address) {
    const auto place = placeOf(address);
    if (!place)
        return std::unexpected(Error{"cannot serve metrics on '" + address + "'", "that is not ADDRESS:PORT",
                                     "write 'listen' under [metrics] as \"127.0.0.1:9472\" or \"[::1]:9472\"",
                                     ExitCode::usage});
    UniqueFd fd{::socket(place->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const int yes = 1;
    if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
        ::bind(fd.get(), &place->any, sizeof(*place)) != 0 || ::listen(fd.get(), SOMAXCONN) != 0)
        return std::unexpected(
            Error{"cannot serve metrics on " + address, errnoText(errno),
                  "choose another 'listen' under [metrics]; the unit file allows no addresses by itself"});
    return fd;
}

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(std::function<nlohmann::json()> status,
                                                            UniqueFd listening) {
    auto server = std::make_unique<HttpMetrics>(std::move(status));
    if (auto served = server->serve(std::move(listening)); !served)
        return std::unexpected(served.error());
    return server;
}

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(std::function<nlohmann::json()> status,
                                                            const std::string& address) {
    auto listening = listen(address);
    if (!listening)
        return std::unexpected(listening.error());
    return start(std::move(status), std::move(*listening));
}

} // namespace tna::api
