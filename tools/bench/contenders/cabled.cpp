// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/make.hpp"
#include "bench/testbed/process.hpp"

#include <chrono>
#include <thread>

namespace tna::bench {

namespace {
constexpr auto patience = std::chrono::seconds(15);
constexpr auto betweenTries = std::chrono::milliseconds(200);

/// A machine that somebody else has set up, or that a command tells how to forward.
class Cabled : public Contender {
public:
    Cabled(std::string name, Cabling cabling) : name_(std::move(name)), cabling_(std::move(cabling)) {}

    Result<void> start(Traffic& traffic) override {
        traffic_ = &traffic;
        const auto deadline = std::chrono::steady_clock::now() + patience;
        // Ports of a bridge learn and listen before they forward.
        if (auto asked = ask(); !asked)
            return asked;
        for (;; std::this_thread::sleep_for(betweenTries)) {
            if (auto taught = traffic.source().sendBack(); !taught)
                return taught;
            auto verified = traffic.verify(true);
            if (verified || std::chrono::steady_clock::now() > deadline)
                return verified;
        }
    }
    void stop() override {}
    void pause() override {
        if (traffic_ != nullptr && !cabling_.bare())
            traffic_->sink().detach();
    }
    [[nodiscard]] Result<void> resume() override {
        if (traffic_ == nullptr || cabling_.bare())
            return {};
        if (auto attached = traffic_->sink().attach(); !attached)
            return attached;
        if (auto asked = ask(); !asked)
            return asked;
        // Whoever forwards now may not have seen the stations yet.
        return traffic_->source().sendBack();
    }
    [[nodiscard]] bool connects() const override { return false; }
    [[nodiscard]] bool optional() const override { return true; }

private:
    [[nodiscard]] Result<void> ask() const {
        return cabling_.bare() ? Result<void>{} : runCommand(cabling_.dut + " " + name_);
    }

    std::string name_;
    Cabling cabling_;
    Traffic* traffic_ = nullptr;
};
} // namespace

std::unique_ptr<Contender> makeCabled(const std::string& name, const Cabling& cabling) {
    return std::make_unique<Cabled>(name, cabling);
}

} // namespace tna::bench
