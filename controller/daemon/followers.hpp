// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/line_sink.hpp"

#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tna::daemon {

/// Those who follow what happens (docs/api.md lists the events). Safe to use from several threads; nobody is
/// waited for.
class Followers {
public:
    void add(const std::shared_ptr<api::LineSink>& lines);
    /// Whether it is worth making an event of something.
    [[nodiscard]] bool any();
    void tell(const nlohmann::json& event);

private:
    std::mutex mutex_;
    std::vector<std::weak_ptr<api::LineSink>> all_;
};

/// As in events: UTC, in milliseconds.
[[nodiscard]] std::string timeNow();

} // namespace tna::daemon
