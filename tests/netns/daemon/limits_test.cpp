// SPDX-License-Identifier: Apache-2.0
// The daemon with less than it needs of what the kernel gives, and more announcements than it can take: it
// gives up and says so, or works; Linux goes on in both cases.
#include "netns/daemon/daemon_fixture.hpp"
#include "tnactl/client.hpp"

#include <csignal>

namespace tna::test {
namespace {

struct Limit {
    const char* name;
    std::string option; ///< of prlimit
};
void PrintTo(const Limit& limit, std::ostream* out) {
    *out << limit.option;
}

class Limits : public Daemon, public ::testing::WithParamInterface<Limit> {};

TEST_P(Limits, EndWithAReasonOrNotAtAll) {
    start({"prlimit", GetParam().option, "--"});
    const auto answers = [&] { return ctl::Client(socket()).get("/v1/status"); };
    // It has answered, which takes longest, or it has ended.
    ASSERT_TRUE(eventually([&] { return process_->hasEnded() || answers(); }, std::chrono::seconds(30)));
    // Ports that it could not do all for are tried again.
    (void)eventually([&] { return process_->hasEnded() || stateOf("p0") == "accelerated"; });
    expectForwarding();
    if (process_->hasEnded()) {
        const int code = end(SIGTERM);
        EXPECT_TRUE(code == 1 || code == 3 || code == 4) << "exit code " << code;
    } else {
        const auto status = answers();
        ASSERT_TRUE(status) << status.error().sentence();
        for (const auto& port : (*status)["ports"])
            if (port["state"] != "accelerated") {
                EXPECT_TRUE(port["why"].is_string()) << status->dump(2);
            }
        EXPECT_EQ(end(SIGTERM), 0);
    }
    EXPECT_FALSE(xdpOn("p0"));
    expectForwarding();
}

std::string nameOf(const ::testing::TestParamInfo<Limit>& info) {
    return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Of, Limits,
                         ::testing::Values(Limit{"Files12", "--nofile=12"}, Limit{"Files64", "--nofile=64"},
                                           Limit{"Files255", "--nofile=255"},
                                           Limit{"Files256", "--nofile=256"},
                                           Limit{"Locked", "--memlock=65536"},
                                           Limit{"Memory160", "--as=167772160"}, Limit{"Tasks", "--nproc=1"}),
                         nameOf);

} // namespace
} // namespace tna::test
