// SPDX-License-Identifier: Apache-2.0
// tna-recorder: what it writes is what has come in, and Linux has it all the same.
#include "base/file.hpp"
#include "netns/functions/functions_fixture.hpp"
#include "support/nobody.hpp"

#include <csignal>
#include <filesystem>
#include <sys/stat.h>

namespace tna::test {
namespace {

class Recorder : public FunctionsTest {};

TEST_F(Recorder, WritesWhatComesInAndGivesItBack) {
    if (kernelIsOlderThan(6, 6))
        GTEST_SKIP() << "there is no tcx before Linux 6.6";
    startTnad();
    ASSERT_EQ(declare("tap", "users = [\"nobody\"]\nports = [\"p0\"]\n[[rule]]\nprotocol = \"udp\"\n"), "");
    const auto folder = directory_ + "/captures";
    std::filesystem::create_directory(folder);
    ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
    const auto path = folder + "/tap.pcapng";
    workload_ =
        std::make_unique<Process>(asNobody({TNA_RECORDER, "tap", path, "--socket", functionSocket()}));
    ASSERT_TRUE(becomes("tap", "connected"));
    std::vector<Frame> sent;
    for (unsigned port = 1; port <= 5; port++) {
        sent.push_back(toPort(port));
        far(0).send(sent.back());
        EXPECT_EQ(arrivesAt(1), sent.back());
    }
    EXPECT_EQ(workload_->end(SIGTERM), 0);
    const auto file = readFile(path);
    ASSERT_TRUE(file);
    for (const auto& frame : sent)
        EXPECT_NE(file->find(std::string(frame.bytes.begin(), frame.bytes.end())), std::string::npos);
    const auto shown = command({"tcpdump", "-r", path, "-n"});
    EXPECT_EQ(shown.exitCode, 0) << shown.output;
    EXPECT_THAT(shown.output, ::testing::HasSubstr("10.0.0.1.4000 > 10.0.0.2.5: "));
}

} // namespace
} // namespace tna::test
