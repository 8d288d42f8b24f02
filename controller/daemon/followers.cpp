// SPDX-License-Identifier: Apache-2.0
#include "daemon/followers.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/chrono.h>

namespace tna::daemon {

namespace {
std::string lineOf(nlohmann::json event) {
    event["time"] = timeNow();
    return event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
} // namespace

std::string timeNow() {
    const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
    return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                       (now - seconds).count());
}

void Followers::add(const std::shared_ptr<api::LineSink>& lines) {
    const std::lock_guard lock{mutex_};
    // Who reads it knows that nothing of what comes from now on is missed.
    lines->put(lineOf({{"event", "begin"}, {"api", 1}, {"version", TNA_VERSION}}));
    all_.push_back(lines);
}

bool Followers::any() {
    const std::lock_guard lock{mutex_};
    std::erase_if(all_, [](const auto& lines) { return lines.expired(); });
    return !all_.empty();
}

void Followers::tell(const nlohmann::json& event) {
    const std::lock_guard lock{mutex_};
    if (all_.empty())
        return;
    const auto line = lineOf(event);
    std::erase_if(all_, [&](const auto& weak) {
        const auto lines = weak.lock();
        if (lines && lines->put(line))
            return false;
        if (lines) // a hole would go unnoticed, an end does not
            lines->close();
        return true;
    });
}

} // namespace tna::daemon
