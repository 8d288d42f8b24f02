// SPDX-License-Identifier: Apache-2.0
// What an answer of HTTP says about a server, whole or in pieces.
#include "http.hpp"

#include <gtest/gtest.h>

namespace tna::balancer::test {
namespace {

TEST(Http, RequestNamesThePathAndTheHost) {
    EXPECT_EQ(httpRequest("/health", "192.0.2.80"), "GET /health HTTP/1.1\r\nHost: 192.0.2.80\r\n"
                                                    "User-Agent: tna-balancer\r\nConnection: close\r\n\r\n");
}

TEST(Http, Status200IsGood) {
    EXPECT_EQ(httpVerdict("HTTP/1.1 200 OK\r\n", false), "");
    EXPECT_EQ(httpVerdict("HTTP/1.0 200\r\n", false), "");
}

TEST(Http, AnyOtherStatusIsTold) {
    EXPECT_EQ(httpVerdict("HTTP/1.1 503 Service Unavailable\r\n", false), "HTTP status 503");
    EXPECT_EQ(httpVerdict("HTTP/1.1 204 No Content\r\n", false), "HTTP status 204");
}

TEST(Http, WhatIsNotThereYetIsWaitedFor) {
    const std::string whole = "HTTP/1.1 200 OK";
    for (std::size_t length = 0; length <= 12; length++) {
        EXPECT_EQ(httpVerdict(whole.substr(0, length), false), std::nullopt) << length;
        EXPECT_EQ(httpVerdict(whole.substr(0, length), true), "it ends without an answer") << length;
    }
    EXPECT_EQ(httpVerdict(whole.substr(0, 13), false), "");
}

TEST(Http, WhatIsNoHttpIsBad) {
    for (const auto* answer : {"SSH-2.0-OpenSSH", "HTTP/2", "HTTP/1.1-200 OK\r\n", "HTTP/1.1 2000 OK\r\n",
                               "HTTP/1.1 2x0 OK\r\n", "10.0.1.11"})
        EXPECT_EQ(httpVerdict(answer, false), "what it answers is not HTTP") << answer;
}

} // namespace
} // namespace tna::balancer::test
