// SPDX-License-Identifier: Apache-2.0
#include "api/metrics_server.hpp"

#include "base/unique_fd.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

class Idle : public api::Backend {
public:
    nlohmann::json status() override {
        return {{"version", "1"},
                {"fdb", "mirror"},
                {"uptime_s", 0},
                {"ports", nlohmann::json::array()},
                {"events", {{"swaps", 0}, {"last_swap_us", 0}, {"failures", 0}, {"fdb_readings", 0}}}};
    }
    std::optional<nlohmann::json> port(const std::string& /*name*/) override { return std::nullopt; }
    Result<nlohmann::json> route(const std::string& /*port*/, const std::string& /*from*/,
                                 const std::string& /*to*/) override {
        return nlohmann::json{};
    }
    nlohmann::json events() override { return {}; }
    nlohmann::json graph() override { return {}; }
    nlohmann::json capabilities() override { return {}; }
    bool pause(const std::optional<std::string>& /*port*/, bool /*paused*/) override {
        paused = true;
        return true;
    }
    bool paused = false;
};

/// A port that nobody uses: the kernel's choice, given back.
std::uint16_t freePort() {
    const UniqueFd fd{::socket(AF_INET, SOCK_STREAM, 0)};
    sockaddr_in address{
        .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof(address);
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
        return 0;
    return ntohs(address.sin_port);
}

std::string ask(std::uint16_t port, const std::string& request) {
    const UniqueFd fd{::socket(AF_INET, SOCK_STREAM, 0)};
    const sockaddr_in address{
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        return "nobody listens";
    (void)!::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
    std::string answer;
    char buffer[4096];
    for (ssize_t got; (got = ::recv(fd.get(), buffer, sizeof(buffer), 0)) > 0;)
        answer.append(buffer, static_cast<std::size_t>(got));
    return answer;
}

TEST(MetricsServer, ServesMetricsAndNothingElse) {
    Idle backend;
    const auto port = freePort();
    const auto server = api::MetricsServer::start(backend, "127.0.0.1:" + std::to_string(port));
    ASSERT_TRUE(server) << server.error().sentence();
    const std::string rest = " HTTP/1.1\r\nHost: tna\r\nConnection: close\r\n";
    const auto answer = ask(port, "GET /metrics" + rest + "\r\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
    EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4"));
    EXPECT_THAT(answer, HasSubstr("\ntna_info{version=\"1\",fdb=\"mirror\"} 1\n"));
    for (const char* request : {"GET /v1/status", "GET /", "POST /metrics", "POST /v1/pause"})
        EXPECT_TRUE(ask(port, request + rest + "Content-Length: 2\r\n\r\n{}").starts_with("HTTP/1.1 404"))
            << request;
    EXPECT_FALSE(backend.paused);
}

TEST(MetricsServer, WrongAddressesAreRefusedWithTheirSetting) {
    Idle backend;
    for (const char* address :
         {"9472", ":9472", "localhost:9472", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536",
          "127.0.0.1:9472x", "127.0.0.1:-1", "::1:9472", "[127.0.0.1]:9472"}) {
        const auto server = api::MetricsServer::start(backend, address);
        ASSERT_FALSE(server) << address;
        EXPECT_EQ(server.error().code, ExitCode::usage);
        EXPECT_THAT(server.error().sentence(), HasSubstr("under [metrics]"));
    }
}

TEST(MetricsServer, AddressInUseIsSaid) {
    Idle backend;
    const auto server = api::MetricsServer::start(backend, "192.0.2.1:9472"); // nobody's
    ASSERT_FALSE(server);
    EXPECT_THAT(server.error().sentence(), HasSubstr("192.0.2.1:9472"));
}

} // namespace
} // namespace tna::test
