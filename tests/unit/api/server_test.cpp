// SPDX-License-Identifier: Apache-2.0
// Who may do what on the control socket, asked by other users than root.
#include "api/server.hpp"

#include "base/unique_fd.hpp"
#include "support/command.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

/// Groups that every Debian has.
constexpr const char* lookers = "games";
constexpr const char* lookersId = "60";
constexpr const char* changers = "tape";
constexpr const char* changersId = "26";

class Counting : public api::Backend {
public:
    nlohmann::json status() override { return {{"api", 1}}; }
    std::optional<nlohmann::json> port(const std::string&) override { return std::nullopt; }
    Result<nlohmann::json> route(const std::string&, const std::string&, const std::string&) override {
        return fail("no routes here");
    }
    nlohmann::json events() override { return nlohmann::json::object(); }
    nlohmann::json graph() override { return nlohmann::json::object(); }
    nlohmann::json capabilities() override { return nlohmann::json::object(); }
    bool pause(const std::optional<std::string>&, bool) override { return ++changes > 0; }
    nlohmann::json customModules() override { return nlohmann::json::object(); }
    std::optional<nlohmann::json> customModule(const std::string&,
                                               const std::optional<std::string>&) override {
        return std::nullopt;
    }
    Result<nlohmann::json> placeCustomModule(const std::string&, const std::string&, const api::Placement&,
                                             bool) override {
        changes++;
        return nlohmann::json::object();
    }
    Result<bool> removeCustomModule(const std::string&) override { return ++changes > 0; }
    std::atomic<int> changes = 0;
};

class ControlServer : public ::testing::Test {
protected:
    void SetUp() override {
        if (::geteuid() != 0)
            GTEST_SKIP() << "needs root, to be somebody else";
        char pattern[] = "/tmp/tna-server-XXXXXX";
        directory_ = ::mkdtemp(pattern);
        ::chmod(directory_.c_str(), 0755);
    }
    void TearDown() override {
        server_.reset();
        if (!directory_.empty())
            std::filesystem::remove_all(directory_);
    }
    void serve(const std::string& changeGroup = changers) {
        auto server = api::Server::start(backend_, path(), {lookers, changeGroup});
        ASSERT_TRUE(server) << server.error().sentence();
        server_ = std::move(*server);
    }
    [[nodiscard]] std::string path() const { return directory_ + "/sock"; }
    /// The answer to a request of somebody, with its code on a line of its own.
    [[nodiscard]] std::string ask(const std::vector<std::string>& somebody, const std::string& method,
                                  const std::string& what) const {
        auto words = somebody;
        words.insert(words.end(), {"curl", "--silent", "--unix-socket", path(), "--request", method,
                                   "--write-out", "%{http_code}\n", "http://tna" + what});
        if (method == "POST" || method == "PUT")
            words.insert(words.end(), {"--data", ""});
        return command(words).output;
    }
    [[nodiscard]] static std::vector<std::string> user(const std::string& groups,
                                                       const std::string& id = "1234") {
        return {"setpriv", "--reuid=" + id, "--regid=65534", "--groups=" + groups};
    }

    Counting backend_;
    std::string directory_;
    std::unique_ptr<api::Server> server_;
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

TEST_F(ControlServer, WhoSendsAByteNowAndThenIsHungUpOn) {
    serve();
    const UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof(address.sun_path) - 1);
    ASSERT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(40);
    pollfd waiting{fd.get(), 0, 0};
    while (::poll(&waiting, 1, 200) == 0 && std::chrono::steady_clock::now() < until)
        (void)!::send(fd.get(), "G", 1, MSG_NOSIGNAL);
    EXPECT_TRUE(waiting.revents & POLLHUP);
}

} // namespace
} // namespace tna::test
