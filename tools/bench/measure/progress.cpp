// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/progress.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace tna::bench {

namespace {
std::atomic<bool> stopped{false};
constexpr unsigned width = 24;
} // namespace

TerminalWatcher::TerminalWatcher() : terminal_(::isatty(STDERR_FILENO) != 0) {
    std::signal(SIGINT, [](int) { stopped = true; });
    std::signal(SIGTERM, [](int) { stopped = true; });
    std::signal(SIGHUP, [](int) { stopped = true; });
}

TerminalWatcher::~TerminalWatcher() {
    if (terminal_)
        fmt::print(stderr, "\r\033[K");
}

void TerminalWatcher::progress(const std::string& what, unsigned done, unsigned of) {
    if (!terminal_)
        return;
    const unsigned filled = of == 0 ? 0 : done * width / of;
    fmt::print(stderr, "\r\033[K[{:#<{}}{:.<{}}] {}", "", filled, "", width - filled, what);
    std::fflush(stderr);
}

bool TerminalWatcher::interrupted() const {
    return stopped;
}

} // namespace tna::bench
