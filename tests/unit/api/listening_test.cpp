// SPDX-License-Identifier: Apache-2.0
// Sockets of tnads side by side: none takes the place of another one that is there.
#include "api/listening.hpp"

#include "base/file.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

class ListeningTest : public ::testing::Test {
protected:
    ListeningTest() {
        char pattern[] = "/tmp/tna-listening-XXXXXX";
        directory_ = ::mkdtemp(pattern);
    }
    ~ListeningTest() override { std::filesystem::remove_all(directory_); }
    [[nodiscard]] std::string path() const { return directory_ + "/sock"; }
    void expectRefused() const {
        for (const auto& second : {api::listenOn(path(), ""), api::listenForAnybody(path())}) {
            ASSERT_FALSE(second);
            EXPECT_THAT(second.error().sentence(), HasSubstr("another tnad is running"));
        }
    }
    /// Whether somebody answers there.
    [[nodiscard]] bool answers(int type) const {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path().copy(address.sun_path, sizeof(address.sun_path) - 1);
        waiting_.emplace_back(::socket(AF_UNIX, type | SOCK_NONBLOCK, 0));
        return ::connect(waiting_.back().get(), reinterpret_cast<const sockaddr*>(&address),
                         sizeof(address)) == 0;
    }

    std::string directory_;
    mutable std::vector<UniqueFd> waiting_;
};

TEST_F(ListeningTest, WhoIsThereStays) {
    {
        const auto first = api::listenOn(path(), "");
        ASSERT_TRUE(first) << first.error().sentence();
        expectRefused();
        EXPECT_TRUE(answers(SOCK_STREAM));
    }
    const auto first = api::listenForAnybody(path());
    ASSERT_TRUE(first) << first.error().sentence();
    expectRefused();
    EXPECT_TRUE(answers(SOCK_SEQPACKET));
}

TEST_F(ListeningTest, WhoIsThereAndAcceptsNobodyStays) {
    const auto first = api::listenOn(path(), "");
    ASSERT_TRUE(first) << first.error().sentence();
    for (int i = 0; answers(SOCK_STREAM); i++)
        ASSERT_LT(i, 1000) << "there is no end to those who may wait";
    expectRefused();
}

TEST_F(ListeningTest, OfOneWhoHasGoneThePlaceIsTaken) {
    {
        const UniqueFd left = api::listenForAnybody(path())->take();
    }
    auto first = api::listenOn(path(), "");
    ASSERT_TRUE(first) << first.error().sentence();
    {
        const UniqueFd closed = first->take();
    }
    const auto second = api::listenOn(path(), "");
    ASSERT_TRUE(second) << second.error().sentence();
    EXPECT_TRUE(answers(SOCK_STREAM));
}

TEST_F(ListeningTest, ThePlaceGoesAlongButNotThatOfAnotherOne) {
    {
        const auto only = api::listenOn(path(), "");
        EXPECT_TRUE(std::filesystem::exists(path()));
    }
    EXPECT_FALSE(std::filesystem::exists(path()));
    {
        const auto first = api::listenOn(path(), "");
        std::filesystem::rename(path(), path() + ".first"); // whose number is not free meanwhile
        ASSERT_TRUE(writeFile(path(), "another one's"));
    }
    EXPECT_TRUE(std::filesystem::exists(path()));
}

} // namespace
} // namespace tna::test
