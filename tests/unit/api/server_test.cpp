// SPDX-License-Identifier: Apache-2.0
// Who may do what on the control socket, asked by other users than root.
#include "base/file.hpp"
#include "support/command.hpp"
#include "support/served.hpp"
#include "unit/api/silent_backend.hpp"

#include <cerrno>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

/// Groups that every Debian has.
constexpr const char* lookers = "games";
constexpr const char* lookersId = "60";
constexpr const char* changers = "tape";
constexpr const char* changersId = "26";

class ControlServer : public Served<SilentBackend> {
protected:
    void SetUp() override {
        if (::geteuid() != 0)
            GTEST_SKIP() << "needs root, to be somebody else";
        ::chmod(directory_.c_str(), 0755);
    }
    void serve(const std::string& changeGroup = changers) { Served::serve({lookers, changeGroup}); }
    /// The answer to a request of somebody, with its code on a line of its own.
    [[nodiscard]] std::string ask(const std::vector<std::string>& somebody, const std::string& method,
                                  const std::string& what) const {
        auto words = somebody;
        words.insert(words.end(), {"curl", "--silent", "--unix-socket", path(), "--request", method,
                                   "--write-out", "%{http_code}\n", "http://tna" + what});
        if (method == "POST" || method == "PUT")
            words.insert(words.end(), {"--data", method == "POST" ? "{}" : ""});
        return command(words).output;
    }
    [[nodiscard]] static std::vector<std::string> user(const std::string& groups,
                                                       const std::string& id = "1234") {
        return {"setpriv", "--reuid=" + id, "--regid=65534", "--groups=" + groups};
    }
};

const std::vector<std::pair<std::string, std::string>> changesOfAllKinds{
    {"POST", "/v1/pause"}, {"POST", "/v1/resume"}, {"PUT", "/v1/modules/m"}, {"DELETE", "/v1/modules/m"}};

TEST_F(ControlServer, WhoIsInNeitherGroupGetsNothing) {
    serve();
    for (const std::string groups : {"65534", changersId})
        EXPECT_EQ(ask(user(groups), "GET", "/v1/status"), "000\n");
}

TEST_F(ControlServer, MembersOfItsGroupLookAndChangeNothing) {
    serve();
    for (const char* what : {"/v1/status", "/v1/graph", "/v1/modules"})
        EXPECT_THAT(ask(user(lookersId), "GET", what), ::testing::EndsWith("200\n")) << what;
    for (const auto& [method, what] : changesOfAllKinds) {
        const auto answer = ask(user(lookersId), method, what);
        EXPECT_THAT(answer, ::testing::EndsWith("403\n")) << method << what;
        EXPECT_THAT(answer, HasSubstr("root and members of the group tape"));
    }
    EXPECT_EQ(backend_.changes, 0);
}

TEST_F(ControlServer, MembersOfBothGroupsAndRootChange) {
    serve();
    const std::string both = std::string(lookersId) + "," + changersId;
    auto changes = 0;
    for (const auto& somebody : {user(both), user("65534", "0"), std::vector<std::string>{}})
        for (const auto& [method, what] : changesOfAllKinds) {
            EXPECT_THAT(ask(somebody, method, what), ::testing::EndsWith("200\n")) << method << what;
            EXPECT_EQ(backend_.changes, ++changes);
        }
}

TEST_F(ControlServer, MembershipIsFoundAmongManyGroupsAndAsThePrimaryOne) {
    serve();
    std::string many = lookersId;
    for (int group = 20000; group < 20200; group++)
        many += "," + std::to_string(group);
    EXPECT_THAT(ask(user(many), "POST", "/v1/pause"), ::testing::EndsWith("403\n"));
    EXPECT_THAT(ask(user(many + "," + changersId), "POST", "/v1/pause"), ::testing::EndsWith("200\n"));
    EXPECT_THAT(ask({"setpriv", "--reuid=1234", std::string("--regid=") + changersId,
                     std::string("--groups=") + lookersId},
                    "POST", "/v1/pause"),
                ::testing::EndsWith("200\n"));
}

TEST_F(ControlServer, WithoutAGroupOfThoseWhoChangeItIsRootAlone) {
    for (const char* group : {"", "no-such-group"}) {
        serve(group);
        EXPECT_THAT(ask(user(std::string(lookersId) + "," + changersId), "POST", "/v1/pause"),
                    HasSubstr("that is for root\""));
        EXPECT_THAT(ask({}, "POST", "/v1/pause"), ::testing::EndsWith("200\n"));
        server_.reset();
    }
}

TEST_F(ControlServer, RequestsThatDoNotSayHowLongTheyAreAreRefusedAtOnce) {
    serve();
    const auto answer = command({"curl", "--silent", "--unix-socket", path(), "--request", "POST",
                                 "--write-out", "%{http_code}\n", "http://tna/v1/pause"})
                            .output;
    EXPECT_THAT(answer, HasSubstr("does not say how long it is"));
    EXPECT_THAT(answer, ::testing::EndsWith("411\n"));
    EXPECT_EQ(backend_.changes, 0);
}

TEST_F(ControlServer, RequestsThatDoNotSayWhatTheyChangeChangeNothing) {
    serve();
    const std::pair<const char*, const char*> wrong[] = {
        {"", "is empty"},
        {R"({"prot": "p1"})", "there is no field 'prot'"},
        {R"({"port": "p1", "all": true})", "the request is not"},
        {R"({"all": false})", "the request is not"},
        {R"({"port": 3})", "the request is not"},
        {"[]", "the request is not"},
        {"p1", "the request is not"},
    };
    const auto send = [&](const char* body) {
        return command({"curl", "--silent", "--unix-socket", path(), "--write-out", "%{http_code}\n",
                        "--data", body, "http://tna/v1/pause"})
            .output;
    };
    for (const auto& [body, says] : wrong) {
        const auto answer = send(body);
        EXPECT_THAT(answer, ::testing::EndsWith("400\n")) << body;
        EXPECT_THAT(answer, HasSubstr(says)) << body;
    }
    EXPECT_EQ(backend_.changes, 0);
    for (const char* body : {"{}", R"({"all": true})", R"({"port": "p1"})", R"({"port": null})"})
        EXPECT_THAT(send(body), ::testing::EndsWith("200\n")) << body;
    EXPECT_EQ(backend_.changes, 4);
}

TEST_F(ControlServer, DocumentsSayWhichVersionTheyAreOf) {
    serve();
    const std::pair<const char*, const char*> all[] = {
        {"GET", "/v1/status"},         {"GET", "/v1/events"},
        {"GET", "/v1/graph"},          {"GET", "/v1/capabilities"},
        {"GET", "/v1/rules"},          {"GET", "/v1/modules"},
        {"GET", "/v1/functions"},      {"POST", "/v1/pause"},
        {"POST", "/v1/resume"},        {"PUT", "/v1/modules/m"},
        {"DELETE", "/v1/modules/m"},   {"PUT", "/v1/functions/f"},
        {"DELETE", "/v1/functions/f"}, {"POST", "/v1/functions/f/bypass"}};
    for (const auto& [method, what] : all) {
        const auto answer = ask({}, method, what);
        EXPECT_THAT(answer, ::testing::EndsWith("200\n")) << method << what;
        EXPECT_THAT(answer, HasSubstr("\"api\":1")) << method << what;
    }
}

TEST_F(ControlServer, WhatTheLibraryRefusesHasASentenceOfItsOwn) {
    serve();
    const auto said = [&](const std::string& request) {
        const auto fd = connected();
        (void)!::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
        char buffer[4096];
        const auto got = ::recv(fd.get(), buffer, sizeof(buffer), 0);
        return std::string(buffer, got > 0 ? static_cast<std::size_t>(got) : 0);
    };
    const std::string rest = " HTTP/1.1\r\nHost: tna\r\n\r\n";
    EXPECT_THAT(said("GET /v1/nothing" + rest),
                ::testing::AllOf(HasSubstr(" 404 "), HasSubstr("there is no such thing here")));
    EXPECT_THAT(said("GET /" + std::string(9000, 'x') + rest),
                ::testing::AllOf(HasSubstr(" 414 "), HasSubstr("too long a name")));
    for (const auto& nonsense : {"BREW /v1/status" + rest, "nonsense" + rest})
        EXPECT_THAT(said(nonsense),
                    ::testing::AllOf(HasSubstr(" 400 "), HasSubstr("the request is not understood")))
            << nonsense.substr(0, 20);
}

/// What is sent is read to its end, else its sender would learn that nobody reads it, and nothing more.
TEST_F(ControlServer, WhoSendsTooMuchReadsWhy) {
    serve();
    const auto put = [&](const std::string& who, std::size_t size) {
        const auto fd = connected();
        std::string request = fmt::format("PUT /v1/modules/{} HTTP/1.1\r\nHost: tna\r\n"
                                          "Content-Length: {}\r\n\r\n",
                                          who, size);
        request.append(size, 'x');
        EXPECT_EQ(::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(request.size()))
            << errnoText(errno);
        std::string answer;
        char buffer[4096];
        ssize_t got = 0;
        while ((got = ::recv(fd.get(), buffer, sizeof(buffer), 0)) > 0)
            answer.append(buffer, static_cast<std::size_t>(got));
        EXPECT_EQ(got, 0) << errnoText(errno);
        return answer;
    };
    const auto answer = put("m", std::size_t{4} << 20U);
    EXPECT_THAT(answer, HasSubstr("HTTP/1.1 413"));
    EXPECT_THAT(answer, HasSubstr("the request is too large"));
    EXPECT_EQ(backend_.changes, 0);
}

/// curl calls them a form where nothing else is said, of which the library takes 8 KiB, as parameters.
TEST_F(ControlServer, BodiesAreTheSameWhateverTheirTypeIs) {
    serve();
    const auto file = directory_ + "/object";
    const std::string object = "port=p1&hook=ingress&" + std::string(100'000, 'x');
    ASSERT_TRUE(writeFile(file, object));
    for (const char* header :
         {"Content-Type: application/x-www-form-urlencoded", "Content-Type: multipart/form-data; boundary=x",
          "Content-Type:", "content-type: application/octet-stream", "Content-Encoding: gzip"}) {
        backend_.placed.clear();
        const auto answer = command({"curl", "--silent", "--unix-socket", path(), "--request", "PUT",
                                     "--data-binary", "@" + file, "--header", header, "--write-out",
                                     "%{http_code}\n", "http://tna/v1/modules/m?port=p2"})
                                .output;
        EXPECT_THAT(answer, ::testing::EndsWith("200\n")) << header;
        EXPECT_EQ(backend_.placed, object) << header;
        EXPECT_EQ(backend_.placedAt, (api::Placement{{}, {"p2"}, {}})) << header;
    }
}

TEST_F(ControlServer, NamesOfModulesThatMeanSomethingElseAreRefused) {
    serve();
    for (const char* name : {"..", ".", "-rf", ".hidden", "--help"}) {
        const auto answer = command({"curl", "--silent", "--path-as-is", "--unix-socket", path(), "--request",
                                     "PUT", "--data", "x", "--write-out", "%{http_code}\n",
                                     std::string("http://tna/v1/modules/") + name})
                                .output;
        EXPECT_THAT(answer, ::testing::EndsWith("400\n")) << name;
        EXPECT_THAT(answer, HasSubstr("no name for a custom module")) << name;
    }
    EXPECT_EQ(backend_.changes, 0);
}

TEST_F(ControlServer, AnswersHaveNothingForTerminals) {
    backend_.padding = "\x1b[31mred\x7f\xc2\x9b";
    serve();
    const auto answer = ask({}, "GET", "/v1/graph");
    EXPECT_THAT(answer, HasSubstr(R"(\u001b[31mred\u007f\u009b)"));
}

TEST_F(ControlServer, WhoSendsAByteNowAndThenIsHungUpOn) {
    serve();
    const auto fd = connected();
    ASSERT_TRUE(fd) << "the server does not listen";
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(40);
    pollfd waiting{fd.get(), 0, 0};
    while (::poll(&waiting, 1, 200) == 0 && std::chrono::steady_clock::now() < until)
        (void)!::send(fd.get(), "G", 1, MSG_NOSIGNAL);
    EXPECT_TRUE(waiting.revents & POLLHUP);
}

} // namespace
} // namespace tna::test
