// SPDX-License-Identifier: Apache-2.0
// Waiting for tnad takes as long as the caller says, whatever tnad does.
#include "base/unique_fd.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <tna/function.hpp>
#include <tna/function_protocol.h>
#include <unistd.h>

namespace tna::test {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// A socket like tnad's, where nothing happens by itself.
class SilentTnad {
public:
    SilentTnad() {
        char pattern[] = "/tmp/tna-waiting-XXXXXX";
        directory_ = ::mkdtemp(pattern);
    }
    ~SilentTnad() { std::filesystem::remove_all(directory_); }
    SilentTnad(const SilentTnad&) = delete;
    SilentTnad& operator=(const SilentTnad&) = delete;

    void listen() {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strcpy(address.sun_path, path().c_str());
        listening_ = UniqueFd{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
        ASSERT_EQ(::bind(listening_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
        ASSERT_EQ(::listen(listening_.get(), 8), 0);
    }
    [[nodiscard]] std::string path() const { return directory_ + "/functions.sock"; }
    [[nodiscard]] UniqueFd accept() const { return UniqueFd{::accept(listening_.get(), nullptr, nullptr)}; }

private:
    std::string directory_;
    UniqueFd listening_;
};

class Waiting : public ::testing::TestWithParam<tna_function_wait> {
protected:
    [[nodiscard]] static tna_function_options at(const std::string& path) {
        tna_function_options options = TNA_FUNCTION_OPTIONS;
        options.socket = path.c_str();
        options.wait = GetParam();
        return options;
    }
    static void expectTakes(NetworkFunction& function, milliseconds time) {
        const auto begun = Clock::now();
        EXPECT_TRUE(function.receive(time).empty());
        const auto taken = Clock::now() - begun;
        EXPECT_EQ(function.error(), 0);
        EXPECT_GE(taken + milliseconds(1), time);
        EXPECT_LT(taken, time + milliseconds(1500)) << "for machines that have other work";
    }
};

TEST_P(Waiting, ForATnadThatIsNotThere) {
    const std::string path = "/nonexistent/functions.sock";
    NetworkFunction function{"f", at(path)};
    ASSERT_EQ(function.error(), EAGAIN);
    for (const auto time : {milliseconds(0), milliseconds(30), milliseconds(250)})
        expectTakes(function, time);
}

TEST_P(Waiting, ForATnadThatDoesNotAnswer) {
    SilentTnad tnad;
    const auto path = tnad.path();
    NetworkFunction function{"f", at(path)};
    ASSERT_EQ(function.error(), EAGAIN);
    tnad.listen();
    for (const auto time : {milliseconds(0), milliseconds(30), milliseconds(250)})
        expectTakes(function, time);
    EXPECT_EQ(function.why(), "tnad does not answer yet");
    EXPECT_TRUE(tnad.accept());
    EXPECT_FALSE(tnad.accept()) << "it asks once, and waits for that answer";
}

TEST_P(Waiting, AnAnswerThatComesLateIsHeard) {
    SilentTnad tnad;
    const auto path = tnad.path();
    NetworkFunction function{"f", at(path)};
    tnad.listen();
    expectTakes(function, milliseconds(30));
    const auto connection = tnad.accept();
    ASSERT_TRUE(connection);
    tna_function_answer answer{};
    answer.protocol = TNA_FUNCTION_PROTOCOL;
    answer.refusal = TNA_FUNCTION_NOT_ALLOWED;
    std::strcpy(answer.why, "not you");
    ASSERT_EQ(::send(connection.get(), &answer, sizeof(answer), 0), ssize_t{sizeof(answer)});
    EXPECT_TRUE(function.receive(milliseconds(5000)).empty());
    EXPECT_EQ(function.error(), EPERM);
    EXPECT_EQ(function.why(), "not you");
}

TEST_P(Waiting, ATnadThatHangsUpIsAskedAgain) {
    SilentTnad tnad;
    const auto path = tnad.path();
    NetworkFunction function{"f", at(path)};
    tnad.listen();
    expectTakes(function, milliseconds(30));
    ASSERT_TRUE(tnad.accept());
    expectTakes(function, milliseconds(300));
    EXPECT_TRUE(tnad.accept());
}

INSTANTIATE_TEST_SUITE_P(Modes, Waiting,
                         ::testing::Values(TNA_FUNCTION_POLL, TNA_FUNCTION_BUSY, TNA_FUNCTION_BUSY_POLL),
                         [](const auto& mode) {
                             return mode.param == TNA_FUNCTION_POLL   ? "Sleeping"
                                    : mode.param == TNA_FUNCTION_BUSY ? "Busy"
                                                                      : "BusyPolling";
                         });

} // namespace
} // namespace tna::test
