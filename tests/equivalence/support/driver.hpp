// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/controller.hpp"
#include "step.hpp"
#include "support/eventually.hpp"
#include "world.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tna::test {

/// How many seeds a suite tries: as many as usual, or TNA_TEST_SEEDS of the environment.
inline unsigned seeds(unsigned usual) {
    const char* wanted = std::getenv("TNA_TEST_SEEDS");
    return wanted == nullptr ? usual : static_cast<unsigned>(std::strtoul(wanted, nullptr, 10));
}

/// Plain Linux and Linux with the fast path in front, given the same configuration, the same changes and the
/// same frames, send out the same bytes at the same ports, and remember the same in the end.
template <typename Place, typename Script>
class EquivalenceTest : public ::testing::TestWithParam<unsigned> {
protected:
    void start(Script script) {
        if (const auto why = cannotUseNamespaces(); !why.empty())
            GTEST_SKIP() << why;
        pinned_.emplace();
        fenceHome_.emplace();
        {
            const auto inside = fenceHome_->enter();
            fence_.emplace();
        }
        plain_.emplace();
        fast_.emplace();
        script_.emplace(std::move(script));
        inFast_.emplace(fast_->home().enter());
        config::Config config;
        config.ports.excludeKinds.clear();
        config.ports.finishedFrames = {"*"};
        config.limits.flowsPerCpu = 64;
        if (const char* fdb = std::getenv("TNA_TEST_FDB"); fdb != nullptr)
            config.kernel.fdb = fdb;
        auto controller = daemon::Controller::start(config);
        if (!controller)
            GTEST_SKIP() << controller.error().sentence();
        controller_ = std::move(*controller);
        watched_ = controller_->capabilities()["guards"][0]["mode"] == "watched";
        if (watched_ && !Place::watchable)
            GTEST_SKIP() << "the kernel is not read in place here";
        ASSERT_TRUE(plain_->opens(*fence_));
        ASSERT_TRUE(fast_->opens(*fence_));
        for (const auto& first : script_->start()) {
            if (plain_->run(first.words) != "0 " || fast_->run(first.words) != "0 ")
                GTEST_SKIP() << "not on this machine: " << first.words;
            history_ += first.words + "\n";
        }
        ASSERT_TRUE(eventually([&] { return controller_->onNetlink() && accelerated() == Place::ports; }));
    }
    [[nodiscard]] std::uint64_t sum(const char* counter) const {
        std::uint64_t total = 0;
        const auto status = controller_->status();
        for (const auto& port : status["ports"])
            total += port[counter].get<std::uint64_t>();
        return total;
    }
    [[nodiscard]] unsigned accelerated() const {
        unsigned count = 0;
        const auto status = controller_->status();
        for (const auto& port : status["ports"])
            count += port["state"] == "accelerated";
        return count;
    }
    void send(const Send& what) {
        const int inPlain = plain_->send(what.port, what.frame);
        EXPECT_EQ(fast_->send(what.port, what.frame), inPlain);
        fence_->pass();
        const auto plain = plain_->arrivals();
        const auto fast = fast_->arrivals();
        EXPECT_EQ(fast, plain) << "sent into port " << what.port << ": "
                               << ::testing::PrintToString(what.frame);
    }
    void compare(unsigned steps) {
        for (unsigned i = 0; i < steps; i++) {
            const auto step = script_->next();
            if (const auto* sent = std::get_if<Send>(&step))
                send(*sent);
            else
                change(std::get<Change>(step));
            follow(i);
            ASSERT_FALSE(HasFailure()) << "in step " << i << ", after:\n" << history_;
        }
        EXPECT_EQ(fast_->memory(), plain_->memory());
        const auto fast = sum("fast_packets");
        RecordProperty("fast_packets", std::to_string(fast));
        EXPECT_GT(fast, steps / 10) << "the fast path was hardly used";
        EXPECT_GT(sum("slow_packets"), steps / 10) << "Linux was hardly used";
    }
    /// In place, the controller follows some time later, or not for a long time: frames are right all the
    /// while. Where it watches, it sees a change before the next frame.
    void follow(unsigned step) {
        if (watched_)
            controller_->onTick();
        if (watched_ || step % 7 == 0) {
            ASSERT_TRUE(controller_->onNetlink());
        }
    }
    void change(const Change& what) {
        history_ += what.words + "\n";
        const auto plain = plain_->run(what.words);
        EXPECT_EQ(fast_->run(what.words), plain) << what.words;
    }

    std::optional<OneCpu> pinned_;
    std::optional<Namespace> fenceHome_;
    std::optional<Fence> fence_;
    std::optional<Place> plain_;
    std::optional<Place> fast_;
    std::optional<NamespaceScope> inFast_;
    std::unique_ptr<daemon::Controller> controller_;
    std::optional<Script> script_;
    std::string history_;
    bool watched_ = false;
};

} // namespace tna::test
