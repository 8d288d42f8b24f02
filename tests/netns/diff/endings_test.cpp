// SPDX-License-Identifier: Apache-2.0
// How tna-diff ends, as its man page says: by exit codes, and by signals.
#include "base/file.hpp"
#include "support/command.hpp"
#include "support/eventually.hpp"
#include "support/namespace.hpp"
#include "support/process.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace tna::test {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class Endings : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto why = cannotUseNamespaces(); !why.empty())
            GTEST_SKIP() << why;
        char pattern[] = "/tmp/tna-endings-XXXXXX";
        folder_ = ::mkdtemp(pattern);
        ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
    }
    void TearDown() override {
        if (!folder_.empty())
            std::filesystem::remove_all(folder_);
    }
    /// A copy that other users can reach.
    [[nodiscard]] std::string reachable(const char* program) const {
        const auto copy = folder_ + "/" + std::filesystem::path(program).filename().string();
        std::filesystem::copy_file(program, copy);
        return copy;
    }
    static void expectRefusal(const Words& words, int exitCode, const std::string& part) {
        const auto run = command(words);
        EXPECT_EQ(run.exitCode, exitCode) << run.output;
        EXPECT_THAT(run.output, HasSubstr(part));
        EXPECT_EQ(std::ranges::count(run.output, '\n'), 1) << "not one sentence:\n" << run.output;
    }
    std::string folder_;
};

TEST_F(Endings, WithoutPrivileges) {
    for (const auto* tool : {TNA_DIFF, TNA_BENCH}) {
        const auto copy = reachable(tool);
        const Words command = tool == std::string(TNA_DIFF) ? Words{copy, "random", "--seeds", "1"}
                                                            : Words{copy, "micro", "--frames", "0"};
        Words words{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
        words.insert(words.end(), command.begin(), command.end());
        expectRefusal(words, 3, "run it as root");
    }
    expectRefusal({"setpriv", "--bounding-set=-all", TNA_DIFF, "random", "--seeds", "1"}, 3,
                  "Operation not permitted");
}

TEST_F(Endings, WithoutRoomOrSys) {
    const auto limited = [](const std::string& words) { return Words{"sh", "-c", words}; };
    const std::string random = std::string(TNA_DIFF) + " random --seeds 1 --packets 50";
    expectRefusal(limited("ulimit -n 40; exec " + random), 4, "no more than 40 files may be open");
    const auto memory = command(limited("ulimit -v 40000; exec " + random));
    EXPECT_NE(memory.exitCode, 0);
    EXPECT_THAT(memory.output, ::testing::Not(HasSubstr("please report")));
    for (const std::string folder : {"/sys", "/proc"})
        expectRefusal(
            {"unshare", "--mount", "sh", "-c", "mount -t tmpfs none " + folder + " && exec " + random}, 4,
            folder == "/sys" ? "sysfs at /sys" : "procfs at /proc");
}

TEST_F(Endings, SameWorldsAndAWrongScript) {
    ASSERT_TRUE(
        writeFile(folder_ + "/script", "ip link add br0 type bridge\nip link set p0 master br0 up\n"));
    EXPECT_EQ(command({TNA_DIFF, "run", folder_ + "/script"}).exitCode, 0);
    ASSERT_TRUE(writeFile(folder_ + "/script", "ip link set p0 up\n@nothing\n"));
    expectRefusal({TNA_DIFF, "run", folder_ + "/script"}, 2, "line 2: not understood");
    ASSERT_TRUE(writeFile(folder_ + "/script", "ip link set p0 up\nip link set nobody up\n"));
    expectRefusal({TNA_DIFF, "run", folder_ + "/script"}, 4, "this cannot be had here");
}

/// A shell that its script ends is told of, and does not end the program by a signal.
TEST_F(Endings, ShellThatIsGone) {
    ASSERT_TRUE(writeFile(folder_ + "/script", "@ports p0 p1\nexec true\nip link\nip link\n"));
    expectRefusal({TNA_DIFF, "run", folder_ + "/script"}, 1, "shell");
}

TEST_F(Endings, DifferenceThatCannotBeWrittenIsTold) {
    ASSERT_TRUE(writeFile(folder_ + "/script", "@ports p0 p1\necho $WORLD\n"));
    const auto run =
        command({TNA_DIFF, "run", folder_ + "/script", "--folder", "/proc/none", "--patience", "0"});
    EXPECT_EQ(run.exitCode, 1) << run.output;
    EXPECT_THAT(run.output, HasSubstr("cannot be written"));
    EXPECT_THAT(run.output, HasSubstr("echo $WORLD"));
}

TEST_F(Endings, SignalsEndItAsTheyEndOthersButItTellsWhatItHasFound) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        const auto said = folder_ + "/said";
        ASSERT_TRUE(writeFile(said, ""));
        Process process(
            {"sh", "-c", "exec " TNA_DIFF " random --seeds 1..100000 --packets 100 >" + said + " 2>&1"});
        ASSERT_TRUE(eventually([&] { return readFile(said)->find("seed 1:") != std::string::npos; },
                               std::chrono::seconds(60)));
        process.signal(number);
        ASSERT_TRUE(eventually([&] { return process.hasEnded(); }, std::chrono::seconds(60)));
        EXPECT_EQ(process.end(number), -1);
        EXPECT_THAT(*readFile(said), HasSubstr(" configurations ("));
        EXPECT_THAT(*readFile(said), HasSubstr("tna-diff: interrupted (these are the figures until then)"));
    }
}

} // namespace
} // namespace tna::test
