// SPDX-License-Identifier: Apache-2.0
// Busy polling by system calls: what it needs, and that frames come.
#include "netns/functions/functions_fixture.hpp"

#include <cerrno>
#include <cstdlib>
#include <gmock/gmock.h>
#include <pwd.h>
#include <sys/wait.h>
#include <tna/function.hpp>
#include <unistd.h>

namespace tna::test {
namespace {

class BusyPoll : public StartedFunctionsTest {
protected:
    [[nodiscard]] tna_function_options options() {
        socket_ = functionSocket();
        tna_function_options wanted = TNA_FUNCTION_OPTIONS;
        wanted.socket = socket_.c_str();
        wanted.wait = TNA_FUNCTION_BUSY_POLL;
        return wanted;
    }
    std::string socket_;
};

constexpr const char* everything = R"(
users = ["nobody", "root"]
ports = ["p0"]
[[rule]]
ether_type = "ipv4"
)";

TEST_F(BusyPoll, FramesComeAndAreSent) {
    ASSERT_EQ(declare("f", everything), "");
    NetworkFunction function{"f", options()};
    ASSERT_EQ(function.error(), 0) << function.why();
    EXPECT_TRUE(function.receive(std::chrono::milliseconds(0)).empty()); // from now on there are places
    for (unsigned i = 0; i < 3; i++) {
        far(0).send(toPort(53));
        const auto frames = function.receive(std::chrono::seconds(5));
        ASSERT_EQ(frames.size(), 1U);
        EXPECT_EQ((std::vector<std::uint8_t>{frames[0].data, frames[0].data + frames[0].length}),
                  toPort(53).bytes);
        EXPECT_TRUE(function.send(frames[0], 0));
        tna_function_flush(function.get());
        EXPECT_EQ(arrivesAt(0), toPort(53));
    }
}

TEST_F(BusyPoll, WithoutTheCapabilityItIsRefusedWithTheReason) {
    ASSERT_EQ(declare("f", everything), "");
    const auto wanted = options();
    const auto* nobody = ::getpwnam("nobody");
    ASSERT_NE(nobody, nullptr);
    const auto child = ::fork();
    if (child == 0) {
        if (::setresuid(nobody->pw_uid, nobody->pw_uid, nobody->pw_uid) != 0)
            std::_Exit(1);
        const NetworkFunction function{"f", wanted};
        const bool said = std::string(function.why()).find("needs CAP_NET_ADMIN") != std::string::npos;
        std::_Exit(function.error() != EPERM ? 2 : said ? 0 : 3);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

} // namespace
} // namespace tna::test
