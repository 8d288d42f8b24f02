// SPDX-License-Identifier: Apache-2.0
#include "counts.hpp"

#include "base/unique_fd.hpp"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tna::workload {

namespace {
constexpr std::size_t size = SharedCounts::numbers * sizeof(std::uint64_t);
}

Result<SharedCounts> SharedCounts::open(const std::string& file) {
    if (file.empty())
        return SharedCounts{nullptr};
    const UniqueFd fd{::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)};
    if (!fd || ::ftruncate(fd.get(), 0) != 0 || ::ftruncate(fd.get(), size) != 0)
        return failErrno(errno, "cannot write '{}'", file);
    void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (at == MAP_FAILED)
        return failErrno(errno, "cannot write '{}'", file);
    return SharedCounts{static_cast<std::uint64_t*>(at)};
}

SharedCounts::~SharedCounts() {
    if (shared_ != nullptr)
        ::munmap(shared_, size);
}

void SharedCounts::add(const Counts& counts) const {
    for (std::size_t i = 0; shared_ != nullptr && i < numbers; i++)
        if (counts.at(i) != 0)
            std::atomic_ref{shared_[i]}.fetch_add(counts.at(i), std::memory_order_relaxed);
}

} // namespace tna::workload
