// SPDX-License-Identifier: Apache-2.0
#include "daemon/journal.hpp"

#include "base/log_fields.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <mutex>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <syslog.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

namespace tna::daemon {

namespace {
int priorityOf(spdlog::level::level_enum level) {
    switch (level) {
    case spdlog::level::critical:
        return LOG_CRIT;
    case spdlog::level::err:
        return LOG_ERR;
    case spdlog::level::warn:
        return LOG_WARNING;
    case spdlog::level::info:
        return LOG_INFO;
    default:
        return LOG_DEBUG;
    }
}

class Journal : public spdlog::sinks::base_sink<std::mutex> {
    void sink_it_(const spdlog::details::log_msg& message) override {
        std::vector<std::string> lines{
            fmt::format("MESSAGE={}", std::string_view(message.payload.data(), message.payload.size())),
            fmt::format("PRIORITY={}", priorityOf(message.level)), "SYSLOG_IDENTIFIER=tnad"};
        for (const auto& [name, value] : LogFields::current())
            lines.push_back(fmt::format("{}={}", name, value));
        std::vector<iovec> parts;
        for (auto& line : lines)
            parts.push_back({line.data(), line.size()});
        ::sd_journal_sendv(parts.data(), static_cast<int>(parts.size()));
    }
    void flush_() override {}
};

/// systemd names the device and the inode of the stream that it has given to a service, and programs that
/// redirect standard error elsewhere want to be read there: systemd.exec(5).
bool standardErrorIsTheJournal() {
    struct stat status{};
    const char* stream = std::getenv("JOURNAL_STREAM");
    return stream != nullptr && ::fstat(STDERR_FILENO, &status) == 0 &&
           stream == fmt::format("{}:{}", status.st_dev, status.st_ino);
}
} // namespace

std::shared_ptr<spdlog::logger> makeLogger() {
    if (standardErrorIsTheJournal())
        return std::make_shared<spdlog::logger>("tnad", std::make_shared<Journal>());
    return spdlog::stderr_color_mt("tnad");
}

} // namespace tna::daemon
