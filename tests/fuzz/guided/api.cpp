// SPDX-License-Identifier: Apache-2.0
// Requests on the control socket: each is answered in HTTP or hung up on.
#include "api/server.hpp"

#include "base/unique_fd.hpp"
#include "fuzz/guided/target.hpp"
#include "fuzz/one_port.hpp"

#include <array>
#include <cstdlib>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace tna::fuzz {

namespace {
constexpr int patience = 10000; ///< milliseconds: so long nobody may be kept waiting who has said all

test::OnePort* backend;
std::unique_ptr<api::Server>* server;
std::string* path;

std::string request(const std::string& line, const std::string& body = "") {
    return line + " HTTP/1.1\r\nHost: tna\r\nConnection: close\r\n" +
           (body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") + "\r\n" + body;
}
} // namespace

std::vector<std::string> seeds() {
    return {request("GET /v1/status"),
            request("GET /v1/ports/p0"),
            request("GET /v1/ports/p0/route?from=10.0.0.1&to=fd00::1"),
            request("GET /v1/modules/one/maps/two"),
            request("GET /metrics"),
            request("DELETE /v1/modules/one"),
            request("PUT /v1/modules/one?hook=ingress&port=%70*&priority=7&replace=1", "\x7f"
                                                                                       "ELF"),
            request("POST /v1/pause", R"({"port": "p0"})"),
            request("POST /v1/resume", "{}")};
}

void prepare() {
    char pattern[] = "/tmp/tna-fuzz-XXXXXX";
    path = new std::string(std::string(::mkdtemp(pattern)) + "/socket");
    backend = new test::OnePort;
    auto started = api::Server::start(*backend, *path, {});
    require(started.has_value(), "the server does not start");
    server = new std::unique_ptr<api::Server>(std::move(*started));
    std::atexit([] {
        server->reset();
        ::unlink(path->c_str());
        ::rmdir(path->substr(0, path->rfind('/')).c_str());
    });
}

/// Calls that wait are interrupted by the fuzzer's clock (SIGALRM).
void run(const std::uint8_t* data, std::size_t size) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path->copy(address.sun_path, sizeof(address.sun_path) - 1);
    const UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const auto* where = reinterpret_cast<const sockaddr*>(&address);
    require(TEMP_FAILURE_RETRY(::connect(fd.get(), where, sizeof(address))) == 0,
            "the server does not listen any more");
    (void)!TEMP_FAILURE_RETRY(::send(fd.get(), data, size, MSG_NOSIGNAL));
    ::shutdown(fd.get(), SHUT_WR);
    std::string answer;
    std::array<char, 4096> buffer{};
    for (;;) {
        pollfd waiting{fd.get(), POLLIN, 0};
        require(TEMP_FAILURE_RETRY(::poll(&waiting, 1, patience)) == 1, "the server does not hang up");
        const auto got = TEMP_FAILURE_RETRY(::recv(fd.get(), buffer.data(), buffer.size(), 0));
        if (got <= 0)
            break;
        answer.append(buffer.data(), static_cast<std::size_t>(got));
    }
    require(answer.empty() || answer.starts_with("HTTP/1."), "this is no answer: " + answer);
    const char* complaint = backend->complaint;
    require(complaint == nullptr, complaint == nullptr ? "" : complaint);
}

} // namespace tna::fuzz
