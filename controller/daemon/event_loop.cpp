// SPDX-License-Identifier: Apache-2.0
#include "daemon/event_loop.hpp"

#include "base/unique_fd.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>

namespace tna::daemon {

namespace {
using Clock = std::chrono::steady_clock;
/// Preparing waits for a pause of this length between events, so that they come first.
constexpr auto pauseBeforeSettling = std::chrono::milliseconds(10);

sigset_t handledSignals() {
    sigset_t signals{};
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    return signals;
}

int patience(Clock::time_point nextTick, bool settled) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(nextTick - Clock::now());
    const auto wanted = settled ? left : std::min(left, pauseBeforeSettling);
    return static_cast<int>(std::max(wanted, std::chrono::milliseconds(0)).count());
}

/// True when it is time to stop.
bool onSignal(int fd, const std::function<void()>& reload) {
    signalfd_siginfo info{};
    if (::read(fd, &info, sizeof(info)) != static_cast<ssize_t>(sizeof(info)))
        return false;
    if (info.ssi_signo == SIGHUP) {
        reload();
        return false;
    }
    return true;
}

/// To systemd: alive, and what `systemctl status` shows.
void report(Controller& controller, std::string& told) {
    ::sd_notify(0, "WATCHDOG=1");
    if (auto summary = controller.summary(); summary != told) {
        told = std::move(summary);
        ::sd_notifyf(0, "STATUS=%s", told.c_str());
    }
}
} // namespace

void blockSignals() {
    const auto signals = handledSignals();
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

Result<void> runEventLoop(Controller& controller, const std::function<void()>& reload) {
    const auto signals = handledSignals();
    const UniqueFd signalFd{::signalfd(-1, &signals, SFD_CLOEXEC)};
    if (!signalFd)
        return failErrno(errno, "cannot receive signals");
    std::string told;
    report(controller, told);
    pollfd watched[] = {{controller.netlinkFd(), POLLIN, 0}, {signalFd.get(), POLLIN, 0}};
    for (auto nextTick = Clock::now() + controller.tick();;) {
        const bool settled = controller.settled();
        const int ready = ::poll(watched, 2, patience(nextTick, settled));
        if (ready < 0 && errno != EINTR)
            return failErrno(errno, "cannot wait for events");
        if (ready == 0 && !settled)
            controller.settle();
        if (Clock::now() >= nextTick) {
            controller.onTick();
            report(controller, told);
            nextTick = Clock::now() + controller.tick();
        }
        if (ready > 0 && watched[0].revents != 0)
            if (auto done = controller.onNetlink(); !done)
                spdlog::error("{}", done.error().sentence());
        if (ready > 0 && watched[1].revents != 0 && onSignal(signalFd.get(), reload))
            return {};
    }
}

} // namespace tna::daemon
