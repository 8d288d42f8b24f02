// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <linux/if_xdp.h>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <tna/function_protocol.h>
#include <vector>

namespace tna::test {

/// All that a function is handed, used without the library.
class Rogue {
public:
    /// In a process of its own, which has no capability: nothing of it is seen by the test.
    explicit Rogue(const std::string& path) {
        control_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof(address.sun_path) - 1);
        tna_function_greeting greeting{TNA_FUNCTION_PROTOCOL, TNA_FUNCTION_ALL_QUEUES, "dns"};
        good_ =
            ::connect(control_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
            ::send(control_.get(), &greeting, sizeof(greeting), 0) == sizeof(greeting) &&
            ::recv(control_.get(), &answer_, sizeof(answer_), 0) == sizeof(answer_) &&
            answer_.refusal == TNA_FUNCTION_WELCOME;
        for (unsigned i = 0; good_ && i < answer_.sockets; i++)
            good_ = takeSocket();
    }
    [[nodiscard]] bool good() const { return good_; }
    /// The socket by which frames go back to Linux, if it has been handed one.
    [[nodiscard]] UniqueFd takeWayBack() {
        if (!goesBack_)
            return UniqueFd{};
        UniqueFd last = std::move(sockets_.back());
        sockets_.pop_back();
        return last;
    }

    /// Random words at random places of what the kernel reads.
    void write(std::mt19937& random) {
        for (auto& area : areas_)
            for (int i = 0; i < 64; i++) {
                auto* words = static_cast<std::uint32_t*>(area.at);
                static constexpr std::uint32_t telling[] = {0,          1,    0xffffffff, 0x7fffffff,
                                                            0x80000000, 2048, 4096};
                words[random() % (area.size / 4)] = random() % 2 == 0 ? telling[random() % std::size(telling)]
                                                                      : static_cast<std::uint32_t>(random());
            }
        for (const auto& socket : sockets_) {
            ::sendto(socket.get(), nullptr, 0, MSG_DONTWAIT, nullptr, 0);
            ::recvfrom(socket.get(), nullptr, 0, MSG_DONTWAIT, nullptr, nullptr);
        }
    }
    /// What a function could try with its sockets.
    void tamper() {
        for (const auto& socket : sockets_) {
            sockaddr_xdp address{};
            address.sxdp_family = AF_XDP;
            address.sxdp_ifindex = 1;
            EXPECT_NE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0)
                << "it is bound already";
            const unsigned mark = 99;
            EXPECT_NE(::setsockopt(socket.get(), SOL_SOCKET, SO_MARK, &mark, sizeof(mark)), 0)
                << "without a capability";
        }
        EXPECT_NE(::ftruncate(memory_.get(), 0), 0) << "its memory is sealed";
    }

    ~Rogue() {
        for (const auto& area : areas_)
            ::munmap(area.at, area.size);
    }
    Rogue(const Rogue&) = delete;
    Rogue& operator=(const Rogue&) = delete;

private:
    struct Area {
        void* at;
        std::size_t size;
    };

    bool takeSocket() {
        tna_function_socket about{};
        iovec part{&about, sizeof(about)};
        alignas(cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))];
        msghdr header{};
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        header.msg_control = control;
        header.msg_controllen = sizeof(control);
        if (::recvmsg(control_.get(), &header, MSG_CMSG_CLOEXEC) != sizeof(about))
            return false;
        const auto* rights = CMSG_FIRSTHDR(&header);
        std::vector<int> fds((rights->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        std::copy_n(reinterpret_cast<const int*>(CMSG_DATA(rights)), fds.size(), fds.begin());
        if (fds.size() == 3) {
            memory_.reset(fds[0]);
            map(fds[0], std::size_t{answer_.frames} * answer_.frame_size, 0);
        }
        const int page = fds.back(), socket = fds[fds.size() - 2];
        map(page, 64, 0);
        ::close(page);
        sockets_.emplace_back(socket);
        map(socket, 4096, XDP_UMEM_PGOFF_FILL_RING);
        map(socket, 4096, static_cast<off_t>(XDP_UMEM_PGOFF_COMPLETION_RING));
        map(socket, 4096, XDP_PGOFF_TX_RING);
        goesBack_ = about.port == TNA_FUNCTION_BACK;
        if (!goesBack_)
            map(socket, 4096, XDP_PGOFF_RX_RING);
        return true;
    }
    void map(int fd, std::size_t size, off_t where) {
        auto* at =
            ::mmap(nullptr, std::max<std::size_t>(size, 4096), PROT_READ | PROT_WRITE, MAP_SHARED, fd, where);
        ASSERT_NE(at, MAP_FAILED) << where;
        areas_.push_back({at, std::max<std::size_t>(size, 4096)});
    }

    UniqueFd control_;
    UniqueFd memory_;
    std::vector<UniqueFd> sockets_;
    std::vector<Area> areas_;
    tna_function_answer answer_{};
    bool good_ = false;
    bool goesBack_ = false; ///< by the last one
};

} // namespace tna::test
