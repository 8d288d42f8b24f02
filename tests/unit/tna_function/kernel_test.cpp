// SPDX-License-Identifier: Apache-2.0
// What the library does with rings whose other end is the test's: sockets are files here, and tnad is a
// thread that hands them over.
#include "base/unique_fd.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <linux/if_xdp.h>
#include <optional>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <thread>
#include <tna/function.hpp>
#include <tna/function_protocol.h>
#include <unistd.h>
#include <vector>

namespace tna::test {
namespace {

constexpr std::uint32_t frameSize = 2048;
constexpr off_t farEnd = 0x200000000; // behind all that is mapped of an AF_XDP socket
constexpr std::size_t consumerAt = 64, flagsAt = 128, entriesAt = 256;

/// How long the library wants to sleep, each time, and what happens meanwhile.
struct Sleeping {
    std::vector<int> times;
    std::function<void()> meanwhile;
};
Sleeping& sleeping() {
    static Sleeping all;
    return all;
}
} // namespace
} // namespace tna::test

// In place of the system's, for the library as well.
extern "C" int poll(pollfd* watched, nfds_t count, int timeout) {
    using namespace tna::test;
    const timespec time{timeout / 1000, timeout % 1000 * 1'000'000L};
    if (count == 1)
        return ::ppoll(watched, count, timeout < 0 ? nullptr : &time, nullptr);
    // A file is never waited for.
    sleeping().times.push_back(timeout);
    if (sleeping().meanwhile)
        sleeping().meanwhile();
    ::usleep(1000);
    for (nfds_t i = 1; i < count; i++)
        watched[i].revents = 0;
    constexpr timespec atOnce{};
    return ::ppoll(watched, 1, &atOnce, nullptr);
}

extern "C" int getsockopt(int fd, int level, int option, void* value, socklen_t* length) {
    using namespace tna::test;
    if (level != SOL_XDP)
        return static_cast<int>(::syscall(SYS_getsockopt, fd, level, option, value, length));
    if (option != XDP_MMAP_OFFSETS) {
        errno = ENOPROTOOPT;
        return -1;
    }
    const xdp_ring_offset offset{0, consumerAt, entriesAt, flagsAt};
    const xdp_mmap_offsets offsets{offset, offset, offset, offset};
    std::memcpy(value, &offsets, sizeof(offsets));
    return 0;
}

namespace tna::test {
namespace {

UniqueFd fileOf(off_t size) {
    UniqueFd file{::memfd_create("tna-test", MFD_CLOEXEC)};
    EXPECT_EQ(::ftruncate(file.get(), size), 0);
    return file;
}

/// The kernel's end of a ring.
template <typename Entry>
class Ring {
public:
    Ring(int fd, std::uint64_t where)
        : at_(static_cast<char*>(
              ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(where)))) {}
    ~Ring() { ::munmap(at_, length); }
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    [[nodiscard]] std::uint32_t filled() const { return number(0) - number(consumerAt); }
    Entry take() { return entry(number(consumerAt)++); }
    void put(const Entry& what) { entry(number(0)++) = what; }

private:
    static constexpr std::size_t length = 65536;
    [[nodiscard]] std::uint32_t& number(std::size_t where) const {
        return *reinterpret_cast<std::uint32_t*>(at_ + where);
    }
    [[nodiscard]] Entry& entry(std::uint32_t index) const {
        return reinterpret_cast<Entry*>(at_ + entriesAt)[index % frames];
    }
    char* at_;

public:
    static constexpr std::uint32_t frames = 64;
};

struct Kernel {
    UniqueFd socket = fileOf(farEnd);
    Ring<std::uint64_t> fill{socket.get(), XDP_UMEM_PGOFF_FILL_RING};
    Ring<std::uint64_t> completion{socket.get(), XDP_UMEM_PGOFF_COMPLETION_RING};
    Ring<xdp_desc> receive{socket.get(), XDP_PGOFF_RX_RING};
    Ring<xdp_desc> send{socket.get(), XDP_PGOFF_TX_RING};

    /// Frames come in, as many as there are places.
    void deliver() {
        while (fill.filled() != 0)
            receive.put({.addr = fill.take(), .len = 60, .options = 0});
    }
    void complete() {
        while (send.filled() != 0)
            completion.put(send.take().addr);
    }
};

class HandedOver : public ::testing::Test {
protected:
    void SetUp() override {
        char pattern[] = "/tmp/tna-handed-XXXXXX";
        directory_ = ::mkdtemp(pattern);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strcpy(address.sun_path, path().c_str());
        listening_ = UniqueFd{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
        ASSERT_EQ(::bind(listening_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
        ASSERT_EQ(::listen(listening_.get(), 8), 0);
        sleeping() = {};
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }
    [[nodiscard]] std::string path() const { return directory_ + "/functions.sock"; }

    /// What tnad says to the next one: of so many sockets it hands over the first one only.
    void answer(std::uint32_t sockets) {
        connection_ = UniqueFd{::accept(listening_.get(), nullptr, nullptr)};
        tna_function_greeting greeting{};
        ASSERT_EQ(::recv(connection_.get(), &greeting, sizeof(greeting), 0), ssize_t{sizeof(greeting)});
        tna_function_answer answer{};
        answer.protocol = TNA_FUNCTION_PROTOCOL;
        answer.sockets = sockets;
        answer.ports = 1;
        answer.frames = Ring<int>::frames;
        answer.frame_size = frameSize;
        ASSERT_EQ(::send(connection_.get(), &answer, sizeof(answer), 0), ssize_t{sizeof(answer)});
        handOver();
        if (sockets > 1)
            connection_.reset();
    }
    void connect() {
        const auto where = path();
        tna_function_options options = TNA_FUNCTION_OPTIONS;
        options.socket = where.c_str();
        const std::jthread tnad([&] { answer(1); });
        function_.emplace("f", options, Ring<int>::frames);
        ASSERT_EQ(function_->error(), 0) << function_->why();
    }
    [[nodiscard]] std::vector<tna_frame> received(std::chrono::milliseconds longest = {}) {
        const auto frames = function_->receive(longest);
        return {frames.begin(), frames.end()};
    }
    void sendAll(const std::vector<tna_frame>& frames) {
        for (const auto& frame : frames)
            EXPECT_TRUE(function_->send(frame, 0));
    }

    Kernel kernel_;
    UniqueFd connection_;
    std::optional<NetworkFunction> function_;

private:
    void handOver() {
        const auto memory = fileOf(off_t{Ring<int>::frames} * frameSize), page = fileOf(::getpagesize());
        tna_function_socket about{};
        about.receives = 1;
        const int descriptors[]{memory.get(), kernel_.socket.get(), page.get()};
        char control[CMSG_SPACE(sizeof(descriptors))]{};
        iovec part{&about, sizeof(about)};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof(control);
        auto* rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(descriptors));
        std::memcpy(CMSG_DATA(rights), descriptors, sizeof(descriptors));
        ASSERT_EQ(::sendmsg(connection_.get(), &message, 0), ssize_t{sizeof(about)});
    }

    std::string directory_;
    UniqueFd listening_;
};

TEST_F(HandedOver, WithPlacesForFramesSleepsUntilSomeCome) {
    connect();
    EXPECT_TRUE(received().empty());
    kernel_.deliver();
    sendAll(received());
    EXPECT_TRUE(received(std::chrono::milliseconds(20)).empty());
    EXPECT_GT(sleeping().times.at(0), 10);
}

/// Nobody says when the kernel has sent them: so it is looked at soon, and not any more when they are there.
TEST_F(HandedOver, WhoseFramesAreAllWithTheDriverLooksForThemSoon) {
    connect();
    EXPECT_TRUE(received().empty());
    for (int half = 0; half < 2; half++) {
        kernel_.deliver();
        const auto frames = received();
        EXPECT_EQ(frames.size(), Ring<int>::frames / 2);
        sendAll(frames);
        EXPECT_TRUE(received().empty()) << "the other half has places now";
    }
    EXPECT_TRUE(sleeping().times.empty());
    EXPECT_EQ(kernel_.fill.filled(), 0U);
    sleeping().meanwhile = [this] {
        if (sleeping().times.size() == 2)
            kernel_.complete();
    };
    EXPECT_TRUE(received(std::chrono::milliseconds(1000)).empty());
    ASSERT_GE(sleeping().times.size(), 3U);
    EXPECT_EQ(sleeping().times[0], 1);
    EXPECT_EQ(sleeping().times[1], 1);
    EXPECT_GT(sleeping().times[2], 900);
    EXPECT_EQ(kernel_.fill.filled(), Ring<int>::frames / 2);
}

TEST_F(HandedOver, FewPlacesAreBetterThanNone) {
    connect();
    EXPECT_TRUE(received().empty());
    kernel_.deliver();
    auto frames = received();
    EXPECT_TRUE(received().empty());
    kernel_.deliver();
    EXPECT_EQ(received().size(), Ring<int>::frames / 2);
    EXPECT_EQ(kernel_.fill.filled(), 0U) << "the function has all of them";
    EXPECT_TRUE(received(std::chrono::milliseconds(20)).empty());
    EXPECT_GT(sleeping().times.at(0), 10) << "and nothing is to be expected";
    function_->drop(frames.front());
    EXPECT_TRUE(received().empty());
    EXPECT_EQ(kernel_.fill.filled(), 1U);
}

/// Until the function is connected anew, and that has not succeeded.
TEST_F(HandedOver, FramesAreLookedAtUntilThereIsAnotherConnection) {
    connect();
    EXPECT_TRUE(received().empty());
    kernel_.deliver();
    const auto frame = received().at(0);
    connection_.reset();
    EXPECT_TRUE(received().empty());
    std::atomic<bool> answered = false;
    {
        const std::jthread tnad([&] {
            answer(2);
            answered = true;
        });
        while (!answered)
            EXPECT_TRUE(received(std::chrono::milliseconds(50)).empty());
    }
    EXPECT_TRUE(received(std::chrono::milliseconds(50)).empty());
    EXPECT_EQ(tna_function_connections(function_->get()), 1U);
    const UniqueFd nowhere = fileOf(0);
    EXPECT_EQ(::write(nowhere.get(), frame.data, frame.length), 60) << std::strerror(errno);
}

} // namespace
} // namespace tna::test
