// SPDX-License-Identifier: Apache-2.0
#include "api/answer_threads.hpp"

#include <condition_variable>
#include <gtest/gtest.h>
#include <set>

namespace tna::test {
namespace {

/// Answers with what was asked; what begins with "wait" when it is let.
class Echo : public api::Answerer {
public:
    api::Answer answer(const api::Peer&, const std::string& request) override {
        std::unique_lock lock{mutex_};
        asked_.insert(request);
        changed_.notify_all();
        changed_.wait(lock, [&] { return open_ || !request.starts_with("wait"); });
        return {.bytes = request};
    }
    [[nodiscard]] std::size_t largestBody(const api::Peer&) const override { return 0; }
    [[nodiscard]] bool mayChange(const api::Peer&) const override { return true; }

    void open() {
        const std::lock_guard lock{mutex_};
        open_ = true;
        changed_.notify_all();
    }
    void awaitAsked(std::size_t many) {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return asked_.size() >= many; });
    }
    [[nodiscard]] std::set<std::string> asked() {
        const std::lock_guard lock{mutex_};
        return asked_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = false;
    std::set<std::string> asked_;
};

class AnswerThreadsTest : public ::testing::Test {
protected:
    ~AnswerThreadsTest() override { echo_.open(); }
    void ask(std::uint64_t id, const std::string& text, bool looks, bool mayChange = false) {
        threads_.ask(id, {.mayChange = mayChange, .looks = looks, .text = text});
    }
    /// So many answers, by the numbers of their requests.
    std::map<std::uint64_t, std::string> take(std::size_t many) {
        std::map<std::uint64_t, std::string> answers;
        while (answers.size() < many) {
            {
                std::unique_lock lock{mutex_};
                changed_.wait(lock, [&] { return ready_; });
                ready_ = false;
            }
            for (auto& [id, answer] : threads_.take())
                answers.emplace(id, answer.bytes);
        }
        return answers;
    }

    Echo echo_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool ready_ = false;
    api::AnswerThreads threads_{echo_, [this] {
                                    const std::lock_guard lock{mutex_};
                                    ready_ = true;
                                    changed_.notify_all();
                                }};
};

TEST_F(AnswerThreadsTest, WhatLooksDoesNotWaitForWhatChanges) {
    ask(1, "wait: a change", false);
    ask(2, "a look", true);
    EXPECT_EQ(take(1), (std::map<std::uint64_t, std::string>{{2, "a look"}}));
    echo_.open();
    EXPECT_EQ(take(1), (std::map<std::uint64_t, std::string>{{1, "wait: a change"}}));
}

TEST_F(AnswerThreadsTest, WhatIsWithdrawnBeforeItsTurnIsNotAsked) {
    ask(1, "wait: a change", false);
    echo_.awaitAsked(1);
    ask(2, "a second one", false);
    ask(3, "a third one", false);
    threads_.withdraw(2);
    threads_.withdraw(2);
    threads_.withdraw(1); // too late
    echo_.open();
    EXPECT_EQ(take(2), (std::map<std::uint64_t, std::string>{{1, "wait: a change"}, {3, "a third one"}}));
    EXPECT_FALSE(echo_.asked().contains("a second one"));
}

TEST_F(AnswerThreadsTest, APlaceIsKeptForWhoMayChangeSomething) {
    for (std::uint64_t id = 1; id <= 3; id++)
        ask(id, "wait: a look, " + std::to_string(id), true);
    ask(4, "a look of the administrator", true, true);
    EXPECT_EQ(take(1), (std::map<std::uint64_t, std::string>{{4, "a look of the administrator"}}));
    EXPECT_FALSE(echo_.asked().contains("wait: a look, 3"));
    echo_.open();
    EXPECT_EQ(take(3).size(), 3U);
}

TEST_F(AnswerThreadsTest, InterimAnswersAreLeftOut) {
    ask(1, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n", true);
    EXPECT_EQ(take(1).at(1), "HTTP/1.1 200 OK\r\n");
}

} // namespace
} // namespace tna::test
