// SPDX-License-Identifier: Apache-2.0
#include "capture_file.hpp"

#include "base/file.hpp"
#include "diff/pcapng.hpp"

#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace tna::recorder {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

class Captures : public ::testing::Test {
protected:
    void SetUp() override {
        char pattern[] = "/tmp/tna-recorder-XXXXXX";
        folder_ = ::mkdtemp(pattern);
    }
    void TearDown() override { fs::remove_all(folder_); }
    [[nodiscard]] Target target(const std::string& name = "a.pcapng") const {
        return {.path = folder_ + "/" + name, .ports = {"p0", "p1"}};
    }
    [[nodiscard]] std::vector<diff::Packet> read(const std::string& name) const {
        const auto file = readNamedFile(folder_ + "/" + name, 1U << 24U);
        EXPECT_TRUE(file) << file.error().sentence();
        const auto packets = diff::packetsOf(*file, {"p0", "p1"}, "p0");
        EXPECT_TRUE(packets) << packets.error().sentence();
        return packets.value_or(std::vector<diff::Packet>{});
    }
    static Bytes frame(std::size_t length, std::uint8_t fill) { return Bytes(length, fill); }

    std::string folder_;
};

TEST_F(Captures, FramesAreReadAsTheyWereWritten) {
    {
        auto file = CaptureFile::create(target());
        ASSERT_TRUE(file);
        for (std::size_t length = 14; length < 80; length++)
            file->add(frame(length, static_cast<std::uint8_t>(length)), length % 2,
                      std::chrono::nanoseconds(5));
    }
    const auto packets = read("a.pcapng");
    ASSERT_EQ(packets.size(), 66U);
    for (std::size_t i = 0; i < packets.size(); i++) {
        EXPECT_EQ(packets[i].port, (i + 14) % 2);
        EXPECT_EQ(packets[i].frame, frame(i + 14, static_cast<std::uint8_t>(i + 14)));
    }
}

TEST_F(Captures, LongFramesAreCutOff) {
    auto wanted = target();
    wanted.most = 20;
    {
        auto file = CaptureFile::create(wanted);
        ASSERT_TRUE(file);
        file->add(frame(100, 7), 0, {});
        file->flush();
        EXPECT_EQ(file->written(), 1U);
    }
    ASSERT_EQ(read("a.pcapng").size(), 1U);
    EXPECT_EQ(read("a.pcapng")[0].frame, frame(20, 7));
}

TEST_F(Captures, OldestFileOfARingIsWrittenOver) {
    auto wanted = target();
    wanted.files = 3;
    wanted.size = 4000;
    {
        auto file = CaptureFile::create(wanted);
        ASSERT_TRUE(file);
        for (unsigned i = 0; i < 10; i++)
            file->add(frame(1500, static_cast<std::uint8_t>(i)), 0, {});
        file->flush();
        EXPECT_EQ(file->written(), 10U);
    }
    std::map<unsigned, std::vector<unsigned>> found;
    for (unsigned number = 0; number < 3; number++)
        for (const auto& packet : read(fmt::format("a-{}.pcapng", number)))
            found[number].push_back(packet.frame[0]);
    EXPECT_EQ(found, (std::map<unsigned, std::vector<unsigned>>{{0, {6, 7}}, {1, {8, 9}}, {2, {4, 5}}}));
    for (const auto& entry : fs::directory_iterator(folder_))
        EXPECT_LE(entry.file_size(), 4000U);
}

TEST_F(Captures, FileThatIsFullKeepsWhatItHas) {
    auto wanted = target();
    wanted.size = 4000;
    auto file = CaptureFile::create(wanted);
    ASSERT_TRUE(file);
    for (unsigned i = 0; i < 5; i++)
        file->add(frame(1500, static_cast<std::uint8_t>(i)), 0, {});
    file->flush();
    EXPECT_EQ(file->written(), 2U);
    EXPECT_EQ(file->lost(), 3U);
    EXPECT_EQ(file->error(), EFBIG);
    EXPECT_EQ(read("a.pcapng").size(), 2U);
}

/// How long files may be, in place of a disk that is full.
class FileSize {
public:
    explicit FileSize(rlim_t most) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
        const rlimit limit{most, before_.rlim_max};
        EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    }
    ~FileSize() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    FileSize(const FileSize&) = delete;
    FileSize& operator=(const FileSize&) = delete;

private:
    rlimit before_{};
    void (*handler_)(int);
};

TEST_F(Captures, FileThatHasBegunOnAFullDiskIsReadWhenThereIsRoomAgain) {
    auto wanted = target();
    wanted.files = 2;
    wanted.size = 4000;
    auto file = CaptureFile::create(wanted);
    ASSERT_TRUE(file);
    for (unsigned i = 0; i < 2; i++)
        file->add(frame(1500, static_cast<std::uint8_t>(i)), 0, {});
    file->flush();
    {
        const FileSize full(100);
        file->add(frame(1500, 2), 0, {});
        file->flush();
        EXPECT_EQ(file->lost(), 1U);
        EXPECT_EQ(file->error(), EFBIG);
    }
    file->add(frame(1500, 3), 0, {});
    file->flush();
    EXPECT_EQ(file->written(), 3U);
    EXPECT_EQ(read("a-0.pcapng").size(), 2U);
    ASSERT_EQ(read("a-1.pcapng").size(), 1U);
    EXPECT_EQ(read("a-1.pcapng")[0].frame, frame(1500, 3));
}

TEST_F(Captures, WhatCannotBeWrittenIsToldOrCounted) {
    auto nowhere = target("no/such.pcapng");
    EXPECT_FALSE(CaptureFile::create(nowhere));
    auto full = target();
    full.path = "/dev/full";
    const auto file = CaptureFile::create(full);
    ASSERT_FALSE(file);
    EXPECT_THAT(file.error().sentence(), ::testing::HasSubstr("No space left on device"));
}

} // namespace
} // namespace tna::recorder
