// SPDX-License-Identifier: Apache-2.0
// tna/client.hpp where nobody answers.
#include "api/listening.hpp"

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <tna/client.hpp>

namespace tna::test {
namespace {

class ClientOfOneWhoSleeps : public ::testing::Test {
protected:
    ClientOfOneWhoSleeps() {
        char pattern[] = "/tmp/tna-client-XXXXXX";
        directory_ = ::mkdtemp(pattern);
        listening_.emplace(*api::listenOn(path(), ""));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path().copy(address.sun_path, sizeof(address.sun_path) - 1);
        do
            waiting_.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
        while (::connect(waiting_.back().get(), reinterpret_cast<const sockaddr*>(&address),
                         sizeof(address)) == 0);
    }
    ~ClientOfOneWhoSleeps() override { std::filesystem::remove_all(directory_); }
    [[nodiscard]] std::string path() const { return directory_ + "/sock"; }

    std::string directory_;
    std::optional<api::Listening> listening_;
    std::vector<UniqueFd> waiting_; ///< who nobody accepts, as many as may wait
};

TEST_F(ClientOfOneWhoSleeps, WaitsNoLongerThanItWants) {
    const auto before = std::chrono::steady_clock::now();
    const auto answer =
        client::Daemon(path()).request("GET", "/v1/status", {}, std::chrono::milliseconds(300));
    EXPECT_EQ(answer.status, 0);
    EXPECT_EQ(answer.error, "Connection timed out");
    const auto waited = std::chrono::steady_clock::now() - before;
    EXPECT_GE(waited, std::chrono::milliseconds(250));
    EXPECT_LT(waited, client::Daemon::patience);
}

/// Although the first line may take longer.
TEST_F(ClientOfOneWhoSleeps, FollowsNobodyWhoDoesNotAccept) {
    const auto before = std::chrono::steady_clock::now();
    const auto answer =
        client::Daemon(path()).follow("/v1/events/stream", [](std::string_view) { return true; });
    EXPECT_EQ(answer.error, "Connection timed out");
    EXPECT_LT(std::chrono::steady_clock::now() - before, 2 * client::Daemon::patience);
}

} // namespace
} // namespace tna::test
