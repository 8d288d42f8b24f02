// SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"

#include "http.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace tna::balancer {

namespace {
using std::chrono::milliseconds;

/// How often is looked whether one that is begun has succeeded.
constexpr milliseconds glance{5};

/// How many run at once: there are other files.
std::size_t mostAtOnce() {
    constexpr rlim_t enough = 1024;
    rlimit limit{};
    return ::getrlimit(RLIMIT_NOFILE, &limit) != 0 ? 16 : std::clamp<rlim_t>(limit.rlim_cur / 2, 1, enough);
}

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

void Checks::follow(const std::vector<Service>& services, Time now) {
    auto before = std::exchange(checks_, {});
    for (std::size_t i = 0; i < services.size(); i++) {
        const auto& [service, backends, table] = services[i];
        for (std::size_t j = 0; service.check.kind != "none" && j < backends.size(); j++) {
            const auto& endpoint = backends[j].settings.endpoint;
            const auto known = std::ranges::find_if(before, [&](const Check& check) {
                return check.place == service.place && check.endpoint == endpoint &&
                       check.settings == service.check;
            });
            const milliseconds offset(service.check.interval * j / backends.size());
            auto& check = checks_.emplace_back(
                known != before.end()
                    ? std::move(*known)
                    : Check{.place = service.place,
                            .endpoint = endpoint,
                            .settings = service.check,
                            .health = {backends[j].up, service.check.rise, service.check.fall},
                            .begins = now + offset});
            check.service = i;
            check.backend = j;
        }
    }
    turn_ = 0;
    running_.clear();
    for (std::size_t number = 0; number < checks_.size(); number++)
        if (checks_[number].fd)
            running_.push_back(number);
    next_ = checks_.empty() ? Time::max() : now;
}

Checks::Result Checks::begin(Check& check, Time now) {
    auto target = check.endpoint;
    if (check.settings.port != 0)
        target.port = static_cast<std::uint16_t>(check.settings.port);
    const auto to = socketAddress(target);
    UniqueFd fd{::socket(to.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd) {
        note(errno, now);
        return std::nullopt; // that says nothing about the backend
    }
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

void Checks::note(int error, Time now) {
    if (told_ && now - *told_ < std::chrono::minutes(1))
        return;
    obstacle_ = errnoText(error);
    told_ = now;
}

/// Nothing, if the kernel does not say.
std::vector<short> Checks::eventsOfRunning(Time now) {
    std::vector<pollfd> waiting;
    for (const auto number : running_)
        waiting.push_back(
            {checks_[number].fd.get(), static_cast<short>(checks_[number].asked ? POLLIN : POLLOUT), 0});
    std::vector<short> events;
    if (::poll(waiting.data(), waiting.size(), 0) < 0) {
        note(errno, now);
        return events;
    }
    for (const auto& one : waiting)
        events.push_back(one.revents);
    return events;
}

void Checks::goOnWithRunning(std::vector<Change>& changes, Time now) {
    const auto events = eventsOfRunning(now);
    for (std::size_t i = 0; i < events.size(); i++) {
        auto& check = checks_[running_[i]];
        if (const auto result = goOn(check, events[i], now))
            report(check, *result, changes);
    }
    std::erase_if(running_, [&](auto number) { return !checks_[number].fd; });
}

/// Where not all can begin that should, the others are the first ones next time.
void Checks::beginSome(std::vector<Change>& changes, Time now) {
    const auto most = mostAtOnce();
    for (std::size_t i = 0; i < checks_.size(); i++) {
        const auto number = (turn_ + i) % checks_.size();
        auto& check = checks_[number];
        if (check.fd || now < check.begins)
            continue;
        const auto result = running_.size() < most ? begin(check, now) : std::nullopt;
        if (result)
            report(check, *result, changes);
        else if (check.fd)
            running_.push_back(number);
        else {
            turn_ = number;
            return;
        }
    }
}

std::vector<Checks::Change> Checks::step(Time now) {
    std::vector<Change> changes;
    if (checks_.empty() || now < next_)
        return changes;
    goOnWithRunning(changes, now);
    beginSome(changes, now);
    next_ = now + glance;
    if (running_.empty())
        next_ = std::max(next_, std::ranges::min_element(checks_, {}, &Check::begins)->begins);
    return changes;
}

} // namespace tna::balancer
