// SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"

#include "http.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace tna::balancer {

namespace {
using std::chrono::milliseconds;

/// How often is looked whether one that is begun has succeeded.
constexpr milliseconds glance{5};

struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t length = 0;
};
SocketAddress socketAddress(const Endpoint& endpoint) {
    SocketAddress result;
    if (endpoint.address.isFour()) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(endpoint.port);
        std::memcpy(&address.sin_addr, endpoint.address.data(), sizeof(address.sin_addr));
        std::memcpy(&result.storage, &address, result.length = sizeof(address));
    } else {
        sockaddr_in6 address{};
        address.sin6_family = AF_INET6;
        address.sin6_port = htons(endpoint.port);
        std::memcpy(&address.sin6_addr, endpoint.address.data(), sizeof(address.sin6_addr));
        std::memcpy(&result.storage, &address, result.length = sizeof(address));
    }
    return result;
}
} // namespace

Checks::Checks(const std::vector<Service>& services, Time now) {
    for (std::size_t i = 0; i < services.size(); i++) {
        const auto& settings = services[i].settings.check;
        const auto& backends = services[i].backends;
        for (std::size_t j = 0; settings.kind != "none" && j < backends.size(); j++) {
            auto target = backends[j].settings.endpoint;
            if (settings.port != 0)
                target.port = static_cast<std::uint16_t>(settings.port);
            const milliseconds offset(settings.interval * j / backends.size());
            checks_.push_back({i, j, target, settings, Health(backends[j].up, settings.rise, settings.fall),
                               now + offset, Time{}, UniqueFd{}});
            next_ = std::min(next_, now + offset);
        }
    }
}

Checks::Result Checks::begin(Check& check, Time now) {
    const auto to = socketAddress(check.target);
    UniqueFd fd{::socket(to.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd)
        return std::nullopt; // that says nothing about the backend
    check.begins = now + milliseconds(check.settings.interval);
    check.ends = now + milliseconds(check.settings.timeout);
    check.asked = false;
    check.answer.clear();
    const int done = ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to.storage), to.length);
    if (done != 0 && errno != EINPROGRESS)
        return errnoText(errno);
    check.fd = std::move(fd);
    return done == 0 ? connected(check) : std::nullopt;
}

Checks::Result Checks::connected(Check& check) {
    int error = 0;
    socklen_t length = sizeof(error);
    ::getsockopt(check.fd.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0)
        return errnoText(error);
    if (check.settings.kind != "http")
        return "";
    const auto request = httpRequest(check.settings.path, check.settings.host);
    const auto sent = ::send(check.fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
    if (sent < 0)
        return errnoText(errno);
    if (std::cmp_not_equal(sent, request.size()))
        return "it does not take the request";
    check.asked = true;
    return std::nullopt;
}

Checks::Result Checks::answered(Check& check) {
    std::array<char, 512> bytes{};
    const auto got = ::recv(check.fd.get(), bytes.data(), bytes.size(), 0);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? std::nullopt : std::optional(errnoText(errno));
    check.answer.append(bytes.data(), static_cast<std::size_t>(got));
    return httpVerdict(check.answer, got == 0);
}

Checks::Result Checks::goOn(Check& check, short events, Time now) {
    Result result;
    if (events != 0)
        result = check.asked ? answered(check) : connected(check);
    return !result && now >= check.ends ? std::optional(errnoText(ETIMEDOUT)) : result;
}

void Checks::report(Check& check, const std::string& against, std::vector<Change>& changes) {
    check.fd.reset();
    if (check.health.report(against.empty()))
        changes.push_back({check.service, check.backend, against.empty(), against});
}

std::vector<Checks::Change> Checks::step(Time now) {
    std::vector<Change> changes;
    if (checks_.empty() || now < next_)
        return changes;
    std::vector<pollfd> waiting;
    for (const auto& check : checks_)
        waiting.push_back({check.fd.get(), static_cast<short>(check.asked ? POLLIN : POLLOUT),
                           0}); // poll(2) passes over -1
    if (::poll(waiting.data(), waiting.size(), 0) < 0)
        return changes;
    next_ = Time::max();
    for (std::size_t i = 0; i < checks_.size(); i++) {
        auto& check = checks_[i];
        Result result;
        if (check.fd)
            result = goOn(check, waiting[i].revents, now);
        else if (now >= check.begins)
            result = begin(check, now);
        if (result)
            report(check, *result, changes);
        next_ = std::min(next_, check.fd ? now + glance : std::max(check.begins, now + glance));
    }
    return changes;
}

} // namespace tna::balancer
