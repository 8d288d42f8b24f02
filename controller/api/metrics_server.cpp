// SPDX-License-Identifier: Apache-2.0
#include "api/metrics_server.hpp"

#include "api/metrics.hpp"

#include <arpa/inet.h>
#include <charconv>
#include <httplib.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

namespace tna::api {

namespace {
constexpr std::size_t largestRequest = 4096;
constexpr std::size_t threads = 2;
constexpr int timeoutSeconds = 2;

struct Place {
    std::string host;
    int port = 0;
    int family = AF_INET;
};

std::optional<Place> placeOf(const std::string& address) {
    const auto colon = address.rfind(':');
    if (colon == std::string::npos)
        return std::nullopt;
    Place place{.host = address.substr(0, colon)};
    if (place.host.starts_with('[') && place.host.ends_with(']')) {
        place.host = place.host.substr(1, place.host.size() - 2);
        place.family = AF_INET6;
    }
    const char* end = address.data() + address.size();
    const auto [rest, error] = std::from_chars(address.data() + colon + 1, end, place.port);
    unsigned char parsed[sizeof(in6_addr)];
    if (error != std::errc{} || rest != end || place.port < 1 || place.port > 65535 ||
        ::inet_pton(place.family, place.host.c_str(), parsed) != 1)
        return std::nullopt;
    return place;
}

class HttpMetrics : public MetricsServer {
public:
    explicit HttpMetrics(Backend& backend) {
        http_.set_payload_max_length(largestRequest);
        http_.set_read_timeout(timeoutSeconds);
        http_.set_write_timeout(timeoutSeconds);
        http_.new_task_queue = [] { return new httplib::ThreadPool(threads); };
        http_.Get("/metrics", [&backend](const auto&, auto& response) {
            response.set_content(metrics(backend.status()), metricsType);
        });
    }
    ~HttpMetrics() override {
        http_.stop();
        if (thread_.joinable())
            thread_.join();
    }
    bool listen(const Place& place) {
        http_.set_address_family(place.family);
        if (!http_.bind_to_port(place.host, place.port))
            return false;
        thread_ = std::thread([this] { http_.listen_after_bind(); });
        return true;
    }

private:
    httplib::Server http_;
    std::thread thread_;
};
} // namespace

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(Backend& backend, const std::string& address) {
    const auto place = placeOf(address);
    if (!place)
        return std::unexpected(Error{"cannot serve metrics on '" + address + "'", "that is not ADDRESS:PORT",
                                     "write 'listen' under [metrics] as \"127.0.0.1:9472\" or \"[::1]:9472\"",
                                     ExitCode::usage});
    auto server = std::make_unique<HttpMetrics>(backend);
    if (!server->listen(*place))
        return std::unexpected(
            Error{"cannot serve metrics on " + address, errnoText(errno),
                  "choose another 'listen' under [metrics]; the unit file allows no addresses by itself"});
    return server;
}

} // namespace tna::api
