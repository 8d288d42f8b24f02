// SPDX-License-Identifier: Apache-2.0
#include "support/tap.hpp"

#include <algorithm>
#include <array>
#include <bpf/bpf.h>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace tna::test {

namespace {
UniqueFd openTap(const std::string& name, int flags, unsigned index) {
    UniqueFd fd{::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK)};
    ifreq request{};
    std::strncpy(request.ifr_name, name.c_str(), sizeof(request.ifr_name) - 1);
    request.ifr_flags = static_cast<short>(IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | flags);
    int header = sizeof(Unfinished);
    if (!fd || (index != 0 && ::ioctl(fd.get(), TUNSETIFINDEX, &index) != 0) ||
        ::ioctl(fd.get(), TUNSETIFF, &request) != 0 || ::ioctl(fd.get(), TUNSETVNETHDRSZ, &header) != 0)
        return {};
    return fd;
}

void switchQueue(int tap, int flag) {
    ifreq request{};
    request.ifr_flags = static_cast<short>(flag);
    ASSERT_EQ(::ioctl(tap, TUNSETQUEUE, &request), 0) << std::strerror(errno);
}
} // namespace

std::optional<Tap> Tap::make(const std::string& name) {
    auto fd = openTap(name, 0, 0);
    return fd ? std::optional{Tap{std::move(fd)}} : std::nullopt;
}

std::optional<Tap> Tap::makeWithQueues(const std::string& name, unsigned index) {
    auto fd = openTap(name, IFF_MULTI_QUEUE, index);
    return fd ? std::optional{Tap{std::move(fd)}} : std::nullopt;
}

void Tap::takeQueueAway() const {
    switchQueue(fd_.get(), IFF_DETACH_QUEUE);
}

void Tap::giveQueueBack() const {
    switchQueue(fd_.get(), IFF_ATTACH_QUEUE);
}

void Tap::send(const Frame& frame, const Unfinished& unfinished) const {
    std::array<iovec, 2> parts{{{const_cast<Unfinished*>(&unfinished), sizeof(unfinished)},
                                {const_cast<std::uint8_t*>(frame.bytes.data()), frame.bytes.size()}}};
    const auto sent = ::writev(fd_.get(), parts.data(), static_cast<int>(parts.size()));
    ASSERT_EQ(sent, static_cast<ssize_t>(sizeof(unfinished) + frame.bytes.size())) << std::strerror(errno);
}

std::vector<Frame> Tap::drain() const {
    std::vector<Frame> frames;
    std::vector<std::uint8_t> bytes(65536);
    for (ssize_t size = 0; (size = ::read(fd_.get(), bytes.data(), bytes.size())) > 0;)
        frames.push_back({{bytes.begin() + sizeof(Unfinished), bytes.begin() + size}});
    return frames;
}

void Tap::takeOnly(const Mac& station) const {
    // struct tun_filter, whose addresses have no number: flags, how many, addresses
    std::array<std::uint8_t, 4 + sizeof(Mac)> filter{0, 0, 1, 0};
    std::ranges::copy(station, filter.begin() + 4);
    ASSERT_GE(::ioctl(fd_.get(), TUNSETTXFILTER, filter.data()), 0) << std::strerror(errno);
}

void Tap::attachFilterThatDropsAll() const {
    sock_filter nothing{BPF_RET | BPF_K, 0, 0, 0};
    const sock_fprog filter{1, &nothing};
    ASSERT_EQ(::ioctl(fd_.get(), TUNATTACHFILTER, &filter), 0) << std::strerror(errno);
}

void Tap::setProgramThatDropsAll() const {
    const std::array<bpf_insn, 2> nothing{
        {{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .src_reg = 0, .off = 0, .imm = 0},
         {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}}};
    const UniqueFd program{bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "nothing", "GPL", nothing.data(),
                                         nothing.size(), nullptr)};
    ASSERT_TRUE(program) << std::strerror(errno);
    const int fd = program.get();
    ASSERT_EQ(::ioctl(fd_.get(), TUNSETFILTEREBPF, &fd), 0) << std::strerror(errno);
}

} // namespace tna::test
