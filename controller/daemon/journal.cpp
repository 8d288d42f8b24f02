// SPDX-License-Identifier: Apache-2.0
#include "daemon/journal.hpp"

#include "base/log_fields.hpp"
#include "base/printable.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <spdlog/pattern_formatter.h>
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
            "MESSAGE=" + printableLines({message.payload.data(), message.payload.size()}),
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

/// For terminals: names of interfaces may have what they would obey.
class Printable : public spdlog::formatter {
    void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) override {
        const auto text = printableLines({message.payload.data(), message.payload.size()});
        auto shown = message;
        shown.payload = text;
        pattern_.format(shown, line);
        message.color_range_start = shown.color_range_start;
        message.color_range_end = shown.color_range_end;
    }
    [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
        return std::make_unique<Printable>();
    }
    spdlog::pattern_formatter pattern_;
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
    auto logger = spdlog::stderr_color_mt("tnad");
    logger->set_formatter(std::make_unique<Printable>());
    return logger;
}

} // namespace tna::daemon
