// SPDX-License-Identifier: Apache-2.0
// Crowds on the control socket: those who are idle, slow or greedy keep nobody else waiting.
#include "api/framing.hpp"
#include "support/eventually.hpp"
#include "support/served.hpp"
#include "unit/api/silent_backend.hpp"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <tna/client.hpp>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

class Crowd : public Served<SilentBackend> {
protected:
    void SetUp() override { serve(); }
    /// Somebody who says this, and then nothing.
    [[nodiscard]] UniqueFd somebody(const std::string& says = "") const {
        auto fd = connected();
        EXPECT_TRUE(fd) << "the server does not listen";
        EXPECT_EQ(::send(fd.get(), says.data(), says.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(says.size()));
        return fd;
    }
    /// Whether one who asks is answered although all of them are there: none of them is hung up on before
    /// the last one is.
    void expectAnswered(const std::vector<UniqueFd>& others) {
        const auto answer = client::Daemon(path()).get("/v1/status");
        EXPECT_TRUE(answer.good()) << answer.error << answer.body;
        pollfd last{others.back().get(), POLLIN, 0};
        EXPECT_EQ(::poll(&last, 1, 0), 0) << "the others had left before";
    }
};

TEST_F(Crowd, HundredsWhoAreIdleKeepNobodyWaiting) {
    std::vector<UniqueFd> idle;
    for (int i = 0; i < 400; i++)
        idle.push_back(somebody());
    expectAnswered(idle);
}

TEST_F(Crowd, HundredsWhoAreSlowKeepNobodyWaiting) {
    std::vector<UniqueFd> slow;
    for (int i = 0; i < 200; i++)
        slow.push_back(
            somebody(i % 2 == 0 ? "GET /v1/sta" : "POST /v1/pause HTTP/1.1\r\nContent-Length: 100\r\n\r\n{"));
    expectAnswered(slow);
    pollfd first{slow.front().get(), POLLIN, 0};
    EXPECT_EQ(::poll(&first, 1, 0), 0) << "nobody had to go for want of room";
}

TEST_F(Crowd, WhoDoesNotReadKeepsNobodyWaiting) {
    backend_.padding.assign(std::size_t{1} << 20U, 'x');
    std::vector<UniqueFd> deaf;
    for (int i = 0; i < 50; i++)
        deaf.push_back(somebody("GET /v1/graph HTTP/1.1\r\nHost: tna\r\n\r\n"));
    const auto answer = client::Daemon(path()).get("/v1/status");
    EXPECT_TRUE(answer.good()) << answer.error;
}

TEST_F(Crowd, RequestsOnOneConnectionAreAnsweredOneAfterTheOther) {
    const std::string one = "GET /v1/status HTTP/1.1\r\nHost: tna\r\n\r\n";
    const auto fd = somebody(one + one + "GET /nothing HTTP/1.1\r\nHost: tna\r\nConnection: close\r\n\r\n");
    std::string answers;
    char buffer[4096];
    for (ssize_t got; (got = ::recv(fd.get(), buffer, sizeof(buffer), 0)) > 0;)
        answers.append(buffer, static_cast<std::size_t>(got));
    std::size_t found = 0;
    for (auto at = answers.find("{\"api\":1}"); at != std::string::npos;
         at = answers.find("{\"api\":1}", at + 1))
        found++;
    EXPECT_EQ(found, 2U) << answers;
    EXPECT_THAT(answers, HasSubstr("HTTP/1.1 404"));
}

TEST_F(Crowd, EventsReachAllWhoFollowUntilTheyLeave) {
    std::vector<std::string> lines;
    const auto answer = client::Daemon(path()).follow("/v1/events/stream", [&](std::string_view line) {
        lines.emplace_back(line);
        if (const auto sink = backend_.followed.lock())
            sink->put("{\"number\": 2}");
        return lines.size() < 2;
    });
    EXPECT_TRUE(answer.good()) << answer.error << answer.body;
    EXPECT_EQ(lines, (std::vector<std::string>{"{}", "{\"number\": 2}"}));
    EXPECT_TRUE(eventually([&] { return backend_.followed.expired(); })) << "nobody reads it any more";
}

TEST_F(Crowd, WhoFollowsAndDoesNotReadIsHungUpOn) {
    const auto fd = somebody("GET /v1/events/stream HTTP/1.1\r\nHost: tna\r\n\r\n");
    ASSERT_TRUE(eventually([&] { return !backend_.followed.expired(); }));
    const std::string line(1000, 'x');
    EXPECT_TRUE(eventually([&] {
        const auto sink = backend_.followed.lock();
        return sink && !sink->put(line);
    })) << "what waits is bounded";
    EXPECT_TRUE(eventually([&] { return backend_.followed.expired(); }, std::chrono::seconds(60)));
}

TEST_F(Crowd, FollowersOfOneUserAreSoManyAndNoMore) {
    std::vector<UniqueFd> followers;
    for (int i = 0; i < 8; i++) {
        followers.push_back(somebody("GET /v1/events/stream HTTP/1.1\r\nHost: tna\r\n\r\n"));
        char first = 0;
        ASSERT_EQ(::recv(followers.back().get(), &first, 1, 0), 1);
    }
    const auto one = [&] {
        return client::Daemon(path()).follow("/v1/events/stream", [](std::string_view) { return false; });
    };
    const auto answer = one();
    EXPECT_EQ(answer.status, 503);
    EXPECT_THAT(answer.body, HasSubstr("too many follow already"));
    followers.pop_back();
    EXPECT_TRUE(eventually([&] { return one().good(); })) << "a place is free again";
}

TEST(Framing, LengthsAreFoundAndNonsenseIsNone) {
    EXPECT_FALSE(api::framingOf("GET / HTTP/1.1\r\nContent-Length: 3\r\n"));
    const auto whole = api::framingOf("POST / HTTP/1.1\r\ncontent-LENGTH:\t 12 \r\nContent-Length: 5\r\n"
                                      "Expect: 100-Continue\r\n\r\nbody");
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->body, 12U) << "the first one counts, as for the library";
    EXPECT_TRUE(whole->awaitsContinue);
    EXPECT_FALSE(whole->looks);
    EXPECT_EQ(api::framingOf("GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n")->body,
              std::numeric_limits<std::size_t>::max());
    for (const std::string head : {"Content-Length: x", "Content-Length", ": 7", "X: Content-Length: 7"})
        EXPECT_EQ(api::framingOf("GET / HTTP/1.1\r\n" + head + "\r\n\r\n")->body, 0U) << head;
    EXPECT_TRUE(api::framingOf("HEAD /\r\n\r\n")->looks);
}

} // namespace
} // namespace tna::test
