// SPDX-License-Identifier: Apache-2.0
#include "api/metrics_server.hpp"

#include "api/front.hpp"
#include "api/http.hpp"
#include "api/metrics.hpp"
#include "base/tcp_address.hpp"

#include <cerrno>
#include <nlohmann/json.hpp>
#include <sys/socket.h>

namespace tna::api {

namespace {
constexpr std::size_t largestQuestion = 4096;

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
    const auto place = tcpAddressOf(address);
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
