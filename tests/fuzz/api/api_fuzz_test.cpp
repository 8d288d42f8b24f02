// SPDX-License-Identifier: Apache-2.0
// Requests with random faults on the control socket: each is answered or hung up on, and the next sound one
// is answered as ever.
#include "fuzz/one_port.hpp"
#include "support/mangle.hpp"
#include "support/served.hpp"

#include <gtest/gtest.h>
#include <poll.h>

namespace tna::test {
namespace {

constexpr unsigned rounds = 1500;

class FuzzApi : public Served<OnePort> {
protected:
    void SetUp() override { serve(); }
    /// Sends the bytes and returns what comes back until the server hangs up, or has nothing to say for as
    /// long as one is willing to wait.
    [[nodiscard]] std::string exchange(const std::string& request, int patienceMilliseconds = 20000) const {
        const auto fd = connected();
        if (!fd) {
            ADD_FAILURE() << "the server does not listen any more";
            return {};
        }
        (void)!::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
        std::string answer(65536, '\0');
        std::size_t size = 0;
        for (pollfd waiting{fd.get(), POLLIN, 0};
             size < answer.size() && ::poll(&waiting, 1, patienceMilliseconds) > 0;) {
            const auto got = ::recv(fd.get(), answer.data() + size, answer.size() - size, 0);
            if (got <= 0)
                break;
            size += static_cast<std::size_t>(got);
        }
        answer.resize(size);
        return answer;
    }
    static std::string post(const std::string& path, const std::string& body) {
        return "POST " + path +
               " HTTP/1.1\r\nHost: tna\r\nConnection: close\r\nContent-Type: application/json\r\n" +
               "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    }
    static std::string get(const std::string& path) {
        return "GET " + path + " HTTP/1.1\r\nHost: tna\r\nConnection: close\r\n\r\n";
    }
    void expectAlive() const {
        const auto answer = exchange(get("/v1/status"));
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
        EXPECT_NE(answer.find("\"api\":1"), std::string::npos) << answer;
        EXPECT_EQ(backend_.complaint, nullptr) << backend_.complaint;
    }
};

TEST_F(FuzzApi, SpoiltRequestsAreAnsweredAndTheServerLivesOn) {
    const std::vector<std::string> seeds{get("/v1/status"),
                                         get("/v1/ports/p0"),
                                         get("/v1/graph"),
                                         post("/v1/pause", R"({"port": "p0"})"),
                                         post("/v1/resume", "{}"),
                                         post("/v1/pause", R"({"port": null, "more": [1, {"a": "b"}]})"),
                                         get("/v1/ports/%70%30?a=b"),
                                         post("/v1/resume", R"({"port": "\u0070\ud83d\ude00"})")};
    for (const auto& seed : seeds)
        EXPECT_TRUE(exchange(seed).starts_with("HTTP/1.1 ")) << seed;
    Mangler mangler(4);
    for (unsigned i = 0; i < rounds; i++) {
        const auto& seed = seeds[mangler.below(seeds.size())];
        const auto bytes = mangler.mangle(std::vector<char>(seed.begin(), seed.end()));
        // Half a request gets no answer; the server is not waited for to give up on it.
        const auto answer = exchange({bytes.begin(), bytes.end()}, 3);
        if (!answer.empty()) {
            EXPECT_TRUE(answer.starts_with("HTTP/1.1 ")) << answer;
        }
        if (i % 100 == 0)
            expectAlive();
        if (HasFailure()) {
            FAIL() << "in round " << i << ": " << std::string(bytes.begin(), bytes.end());
        }
    }
    expectAlive();
}

/// The bodies alone: nothing but {"port": NAME} and {} changes anything.
TEST_F(FuzzApi, BodiesThatAreNotUnderstoodChangeNothing) {
    for (const std::string body :
         {"[]", "3", "null", "\"p0\"", "{", "{\"port\": 3}", "{\"port\": [\"p0\"]}", "{\"port\": {}}",
          "{\"port\": true}", "{\"port\": \"p0\"", "\xff\xfe", "{}{}"}) {
        const auto answer = exchange(post("/v1/pause", body));
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 400")) << body << ": " << answer;
    }
    std::string deep(50000, '[');
    EXPECT_TRUE(exchange(post("/v1/pause", deep)).starts_with("HTTP/1.1 400"));
    EXPECT_EQ(backend_.changes, 0U);
    EXPECT_TRUE(exchange(post("/v1/pause", std::string(100000, ' '))).starts_with("HTTP/1.1 413"));
    expectAlive();
}

} // namespace
} // namespace tna::test
