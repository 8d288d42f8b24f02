// SPDX-License-Identifier: Apache-2.0
// What AF_XDP sockets share with the kernel.
#pragma once

#include "base/unique_fd.hpp"

#include <cstdint>
#include <linux/if_xdp.h>
#include <string>
#include <sys/mman.h>
#include <utility>

namespace tna::bench {

constexpr unsigned ringEntries = 64; ///< of each ring; a power of two

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
    std::uint32_t* flags = nullptr;
    Entry* first = nullptr;

    bool map(int socket, const xdp_ring_offset& offsets, off_t page) {
        memory = Mapping(offsets.desc + ringEntries * sizeof(Entry), MAP_SHARED | MAP_POPULATE, socket, page);
        if (!memory)
            return false;
        producer = reinterpret_cast<std::uint32_t*>(memory.at(offsets.producer));
        consumer = reinterpret_cast<std::uint32_t*>(memory.at(offsets.consumer));
        flags = reinterpret_cast<std::uint32_t*>(memory.at(offsets.flags));
        first = reinterpret_cast<Entry*>(memory.at(offsets.desc));
        return true;
    }
    [[nodiscard]] bool full() const {
        return *producer - __atomic_load_n(consumer, __ATOMIC_ACQUIRE) >= ringEntries;
    }
    /// Hands an entry to the kernel; the caller knows that there is room.
    void push(const Entry& entry) {
        const auto at = *producer;
        first[at % ringEntries] = entry;
        __atomic_store_n(producer, at + 1, __ATOMIC_RELEASE);
    }
    /// Takes an entry from the kernel, if there is one.
    bool pop(Entry& entry) {
        const auto at = *consumer;
        if (__atomic_load_n(producer, __ATOMIC_ACQUIRE) == at)
            return false;
        entry = first[at % ringEntries];
        __atomic_store_n(consumer, at + 1, __ATOMIC_RELEASE);
        return true;
    }
    /// The kernel goes on only after a system call.
    [[nodiscard]] bool wantsWakeUp() const {
        return (__atomic_load_n(flags, __ATOMIC_RELAXED) & XDP_RING_NEED_WAKEUP) != 0;
    }
};

/// Binds an AF_XDP socket to a queue of a device of the calling thread's namespace; false, with errno, if
/// that cannot be. The kernel gives a queue back some time after its last socket was closed: that is waited
/// for.
[[nodiscard]] bool bindToQueue(int socket, const std::string& device, unsigned queue, std::uint16_t flags);

} // namespace tna::bench
