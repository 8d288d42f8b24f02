// SPDX-License-Identifier: Apache-2.0
#include "base/unique_fd.hpp"
#include "bench/traffic/generators/sender.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <thread>

namespace tna::bench {

namespace {
constexpr unsigned batch = 32;
constexpr std::size_t chunk = 4096;
constexpr auto queuePatience = std::chrono::seconds(5);
constexpr unsigned entries = 64; ///< of each ring; a power of two, and no smaller than a batch

class Mapping {
public:
    Mapping() = default;
    Mapping(std::size_t size, int flags, int fd, off_t offset)
        : size_(size), at_(::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, fd, offset)) {}
    Mapping(Mapping&& other) noexcept
        : size_(std::exchange(other.size_, 0)), at_(std::exchange(other.at_, MAP_FAILED)) {}
    Mapping& operator=(Mapping&& other) noexcept {
        std::swap(size_, other.size_);
        std::swap(at_, other.at_);
        return *this;
    }
    ~Mapping() {
        if (at_ != MAP_FAILED)
            ::munmap(at_, size_);
    }
    explicit operator bool() const { return at_ != MAP_FAILED; }
    [[nodiscard]] char* at(std::size_t offset) const { return static_cast<char*>(at_) + offset; }

private:
    std::size_t size_ = 0;
    void* at_ = MAP_FAILED;
};

/// A ring that the kernel shares.
template <typename Entry>
struct Ring {
    Mapping memory;
    std::uint32_t* producer = nullptr;
    std::uint32_t* consumer = nullptr;
    Entry* first = nullptr;

    bool map(int socket, const xdp_ring_offset& offsets, off_t page) {
        memory = Mapping(offsets.desc + entries * sizeof(Entry), MAP_SHARED | MAP_POPULATE, socket, page);
        if (!memory)
            return false;
        producer = reinterpret_cast<std::uint32_t*>(memory.at(offsets.producer));
        consumer = reinterpret_cast<std::uint32_t*>(memory.at(offsets.consumer));
        first = reinterpret_cast<Entry*>(memory.at(offsets.desc));
        return true;
    }
};

/// An AF_XDP socket that copies. Each of its frames has a chunk for good, which is written anew when it is
/// out.
class XdpSender : public Sender {
public:
    static Result<std::unique_ptr<Sender>> make(const std::string& device, unsigned queue) {
        auto sender = std::make_unique<XdpSender>();
        if (!sender->open(device, queue))
            return failErrno(errno, "cannot make an AF_XDP socket on {}", device);
        return sender;
    }
    [[nodiscard]] unsigned room() const override { return batch; }
    [[nodiscard]] std::span<unsigned char> frame(unsigned index) override {
        return {reinterpret_cast<unsigned char*>(memory_.at(index * chunk)), chunk};
    }
    void setSize(unsigned index, std::size_t size) override {
        sizes_[index] = static_cast<std::uint32_t>(size);
    }
    [[nodiscard]] Result<unsigned> send(unsigned first, unsigned end) override {
        const auto producer = *transmit_.producer;
        for (unsigned i = first; i < end; i++)
            transmit_.first[(producer + i - first) % entries] = {i * chunk, sizes_[i], 0};
        __atomic_store_n(transmit_.producer, producer + end - first, __ATOMIC_RELEASE);
        // All of them must be out before they are written again.
        while (__atomic_load_n(completed_.producer, __ATOMIC_ACQUIRE) != producer + end - first)
            if (::sendto(socket_.get(), nullptr, 0, MSG_DONTWAIT, nullptr, 0) < 0 && errno != EAGAIN &&
                errno != EBUSY && errno != ENOBUFS && errno != EINTR)
                return failErrno(errno, "cannot send by an AF_XDP socket");
        __atomic_store_n(completed_.consumer, producer + end - first, __ATOMIC_RELEASE);
        return end - first;
    }

private:
    bool open(const std::string& device, unsigned queue) {
        socket_.reset(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
        memory_ = Mapping(batch * chunk, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (!socket_ || !memory_)
            return false;
        xdp_umem_reg region{};
        region.addr = reinterpret_cast<std::uintptr_t>(memory_.at(0));
        region.len = batch * chunk;
        region.chunk_size = chunk;
        const int size = entries;
        const auto set = [&](int option, const void* value, socklen_t length) {
            return ::setsockopt(socket_.get(), SOL_XDP, option, value, length) == 0;
        };
        xdp_mmap_offsets offsets{};
        socklen_t length = sizeof(offsets);
        // The kernel wants a ring to fill, although nothing is received.
        if (!set(XDP_UMEM_REG, &region, sizeof(region)) || !set(XDP_UMEM_FILL_RING, &size, sizeof(size)) ||
            !set(XDP_UMEM_COMPLETION_RING, &size, sizeof(size)) || !set(XDP_TX_RING, &size, sizeof(size)) ||
            ::getsockopt(socket_.get(), SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &length) != 0 ||
            !transmit_.map(socket_.get(), offsets.tx, XDP_PGOFF_TX_RING) ||
            !completed_.map(socket_.get(), offsets.cr, static_cast<off_t>(XDP_UMEM_PGOFF_COMPLETION_RING)))
            return false;
        sockaddr_xdp address{};
        address.sxdp_family = AF_XDP;
        address.sxdp_flags = XDP_COPY;
        address.sxdp_ifindex = ::if_nametoindex(device.c_str());
        address.sxdp_queue_id = queue;
        // The kernel gives a queue back some time after its last socket was closed.
        const auto deadline = std::chrono::steady_clock::now() + queuePatience;
        while (::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
            if (errno != EBUSY || std::chrono::steady_clock::now() > deadline)
                return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return true;
    }

    UniqueFd socket_;
    Mapping memory_;
    Ring<xdp_desc> transmit_;
    Ring<std::uint64_t> completed_;
    std::array<std::uint32_t, batch> sizes_{};
};
} // namespace

Result<std::unique_ptr<Sender>> makeXdpSender(const std::string& device, unsigned queue) {
    return XdpSender::make(device, queue);
}

} // namespace tna::bench
