// SPDX-License-Identifier: Apache-2.0
// Files that users name may be anything that has a name.
#include "base/file.hpp"

#include <fcntl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace tna {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

class NamedFile : public ::testing::Test {
protected:
    void SetUp() override {
        char pattern[] = "/tmp/tna-file-XXXXXX";
        folder_ = ::mkdtemp(pattern);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    [[nodiscard]] std::string path(const char* name) const { return folder_ + "/" + name; }

    static void expectRefusal(const Result<std::string>& read, const std::string& why) {
        ASSERT_FALSE(read);
        EXPECT_THAT(read.error().sentence(), HasSubstr(why));
        EXPECT_EQ(read.error().code, ExitCode::usage);
    }
    std::string folder_;
};

TEST_F(NamedFile, IsReadAsWhole) {
    const std::string content(200'000, 'x');
    ASSERT_TRUE(writeFile(path("file"), content));
    EXPECT_EQ(readNamedFile(path("file"), 1U << 20U), content);
    ASSERT_TRUE(writeFile(path("file"), ""));
    EXPECT_EQ(readNamedFile(path("file"), 1U << 20U), "");
    EXPECT_TRUE(readNamedFile("/proc/self/status", 1U << 20U)); // which says that it has no size
}

TEST_F(NamedFile, DevicesAndFoldersAreNone) {
    for (const auto* device : {"/dev/zero", "/dev/urandom", "/dev/null", "/dev/tty"})
        EXPECT_FALSE(readNamedFile(device, 1U << 20U)) << device;
    expectRefusal(readNamedFile("/dev/zero", 1U << 20U), "/dev/zero is no file, but a device");
    expectRefusal(readNamedFile(folder_, 1U << 20U), "is no file, but a folder");
    expectRefusal(readNamedFile(path("none"), 1U << 20U), "No such file");
}

TEST_F(NamedFile, WhatIsTooLargeIsNotRead) {
    ASSERT_TRUE(writeFile(path("file"), ""));
    ASSERT_EQ(::truncate(path("file").c_str(), off_t{1} << 40U), 0);
    expectRefusal(readNamedFile(path("file"), 1U << 20U), "is larger than 1 MiB");
}

TEST_F(NamedFile, PipeThatNobodyWritesToIsGivenUp) {
    ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
    expectRefusal(readNamedFile(path("fifo"), 1U << 20U, 20ms), "nothing comes out of");
}

TEST_F(NamedFile, PipeIsReadToItsEndButNotForEver) {
    ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
    const auto written = [&](std::size_t size) {
        std::jthread writer([&, size] {
            const int fd = ::open(path("fifo").c_str(), O_WRONLY | O_CLOEXEC);
            const std::string some(4096, 'x');
            for (std::size_t sent = 0; sent < size;) {
                const auto n = ::write(fd, some.data(), std::min(some.size(), size - sent));
                if (n <= 0)
                    break;
                sent += static_cast<std::size_t>(n);
            }
            ::close(fd);
        });
        return readNamedFile(path("fifo"), 1U << 20U);
    };
    EXPECT_EQ(written(200'000).value_or("").size(), 200'000U);
    ::signal(SIGPIPE, SIG_IGN);
    expectRefusal(written(100U << 20U), "is larger than 1 MiB");
}

} // namespace
} // namespace tna
