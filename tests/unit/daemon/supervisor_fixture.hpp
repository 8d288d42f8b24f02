// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/supervisor.hpp"
#include "fakes.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
#include <sstream>

namespace tna::test {

/// A supervisor of what is made up, at a time that is made up.
class SupervisorTest : public ::testing::Test {
protected:
    using seconds = std::chrono::seconds;

    SupervisorTest() {
        spdlog::set_level(spdlog::level::off);
        auto network = std::make_unique<FakeNetwork>();
        network_ = network.get();
        auto kernel = std::make_unique<FakeKernel>(*network_);
        kernel_ = kernel.get();
        reporter_.follow(lines_);
        supervisor_ = std::make_unique<daemon::Supervisor>(std::move(kernel), std::move(network), wanted_,
                                                           reporter_, [this] { return now_; });
    }
    ~SupervisorTest() override { spdlog::set_level(spdlog::level::info); }

    void start() {
        ASSERT_TRUE(supervisor_->start({}));
        // A first interval without anything: what fails from now on fails for the first time.
        supervisor_->onInterval();
        (void)told();
    }
    [[nodiscard]] PathState& path() const { return *kernel_->paths.back(); }
    [[nodiscard]] const assemble::PortPlan& port() const { return supervisor_->plan().ports.at(portIndex); }
    [[nodiscard]] bool accelerated() const {
        return port().profile.has_value() && supervisor_->failures().empty();
    }
    [[nodiscard]] std::string reason() const {
        return port().reasons.empty() ? "" : port().reasons.front().code;
    }
    /// Something is announced.
    void announce(const std::function<void(model::Network&)>& change,
                  introspect::Changes changes = {.any = true, .links = {}}) {
        network_->next = [=](model::Network& model) {
            change(model);
            return changes;
        };
        ASSERT_TRUE(supervisor_->onReadable());
    }
    void wait(seconds time) {
        now_ += time;
        supervisor_->onInterval();
    }
    /// At which of the coming seconds plans were put in place.
    std::vector<int> secondsWithPlans(int end) {
        std::vector<int> found;
        for (int second = 1; second <= end; second++) {
            const auto before = path().plans;
            wait(seconds(1));
            if (path().plans != before)
                found.push_back(second);
        }
        return found;
    }
    /// What was told to those who follow events since the last time.
    std::vector<nlohmann::json> told() {
        std::vector<nlohmann::json> events;
        std::istringstream text{lines_->take()};
        for (std::string line; std::getline(text, line);) {
            events.push_back(nlohmann::json::parse(line));
            events.back().erase("time");
        }
        return events;
    }
    /// The states of the port that were told since the last time.
    std::vector<std::string> statesTold() {
        std::vector<std::string> states;
        for (const auto& event : told())
            if (event["event"] == "port")
                states.push_back(event["state"]);
        return states;
    }

    FakeNetwork* network_ = nullptr;
    FakeKernel* kernel_ = nullptr;
    daemon::Wanted wanted_;
    daemon::Reporter reporter_;
    std::shared_ptr<api::LineSink> lines_ = std::make_shared<api::LineSink>();
    std::chrono::steady_clock::time_point now_{seconds(1000)};
    std::unique_ptr<daemon::Supervisor> supervisor_;
};

using Strings = std::vector<std::string>;

inline Error refusal(int number) {
    return Error{"cannot attach", errnoText(number), {}, ExitCode::failure, number};
}

} // namespace tna::test
