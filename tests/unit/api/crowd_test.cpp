// SPDX-License-Identifier: Apache-2.0
// Crowds on the control socket: those who are idle, slow or greedy keep nobody else waiting.
#include "api/framing.hpp"
#include "support/eventually.hpp"
#include "support/served.hpp"
#include "unit/api/silent_backend.hpp"

#include <algorithm>
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

/// Long before they are for not having read in time.
TEST_F(Crowd, WhoDoesNotReadIsHungUpOnWhereTooMuchWaitsAndWhoCameLastIsNot) {
    backend_.padding.assign(std::size_t{2} << 20U, 'x');
    std::vector<UniqueFd> deaf;
    for (int i = 0; i < 60; i++)
        deaf.push_back(somebody("GET /v1/graph HTTP/1.1\r\nHost: tna\r\n\r\n"));
    const auto left = [&] {
        return std::ranges::count_if(deaf, [](const auto& fd) {
            pollfd watched{fd.get(), 0, 0};
            return ::poll(&watched, 1, 0) == 0;
        });
    };
    EXPECT_TRUE(eventually([&] { return left() <= 16; }, std::chrono::seconds(4))) << left();
    pollfd last{deaf.back().get(), POLLIN, 0};
    EXPECT_EQ(::poll(&last, 1, 5000), 1);
    EXPECT_EQ(last.revents, POLLIN);
}

/// The library has no limit for ranges: each may be the whole answer.
TEST_F(Crowd, RangesAreNotHeeded) {
    backend_.padding.assign(100, 'x');
    const auto ask = [&](const std::string& method, const std::string& headers) {
        const auto fd =
            somebody(method + " /v1/graph HTTP/1.1\r\nHost: tna\r\nConnection: close\r\n" + headers + "\r\n");
        std::string answer;
        char buffer[4096];
        for (ssize_t got; (got = ::recv(fd.get(), buffer, sizeof(buffer), 0)) > 0;)
            answer.append(buffer, static_cast<std::size_t>(got));
        return answer;
    };
    const auto whole = ask("GET", "");
    ASSERT_THAT(whole, HasSubstr("HTTP/1.1 200"));
    for (const std::string headers :
         {"Range: bytes=0-99,0-99,0-99\r\n", "range:bytes=3-4\r\nIf-Range: \"x\"\r\n", "RANGE: nonsense\r\n",
          "X: first\nRange: bytes=3-4\r\n"})
        EXPECT_EQ(ask("GET", headers), whole) << headers;
    for (const std::string headers : {"", "Range: bytes=3-4\r\n"}) {
        const auto head = ask("HEAD", headers);
        EXPECT_THAT(head, HasSubstr("HTTP/1.1 200"));
        EXPECT_THAT(head, ::testing::Not(HasSubstr("Ranges")));
    }
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

TEST(Framing, HeadersAreLeftOutAsTheLibraryWouldHaveFoundThem) {
    constexpr std::string_view range = "range";
    const auto rest = [&](std::string_view request) { return api::withoutHeaders(request, {&range, 1}); };
    const std::string plain = "GET /range: HTTP/1.1\r\nRanges: 3\r\nX: Range: 3\r\n\r\nRange: 3\r\n";
    EXPECT_EQ(rest(plain), plain);
    EXPECT_EQ(rest("GET / HTTP/1.1\r\nrAnGe: 3\r\nX: 1\nRange:4\r\nY: 2\r\n\r\n"),
              "GET / HTTP/1.1\r\nX: 1\nY: 2\r\n\r\n");
    for (const std::string odd : {"", "\n", "Range: 3", "\r\n\r\n"})
        EXPECT_EQ(rest(odd), odd) << "no head";
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
