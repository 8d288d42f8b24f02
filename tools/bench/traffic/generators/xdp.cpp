// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/generators/rings.hpp"
#include "bench/traffic/generators/sender.hpp"

#include <array>
#include <cerrno>
#include <sys/socket.h>

namespace tna::bench {

namespace {
constexpr unsigned batch = 32;
constexpr std::size_t chunk = 4096;

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
            transmit_.first[(producer + i - first) % ringEntries] = {i * chunk, sizes_[i], 0};
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
        const int size = ringEntries;
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
        return bindToQueue(socket_.get(), device, queue, XDP_COPY);
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
