// SPDX-License-Identifier: Apache-2.0
#include "deploy/functions/xdp_sockets.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <linux/if_xdp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace tna::deploy {

namespace {
using Clock = std::chrono::steady_clock;
/// The kernel lets go of a queue some time after its socket was closed (xp_release_deferred()).
constexpr auto patienceWithLeft = std::chrono::milliseconds(100);

/// Memory that is this process's only until the kernel has it.
class Mapped {
public:
    Mapped(int fd, std::size_t size)
        : size_(size), at_(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) {}
    ~Mapped() {
        if (at_ != MAP_FAILED)
            ::munmap(at_, size_);
    }
    Mapped(const Mapped&) = delete;
    Mapped& operator=(const Mapped&) = delete;
    [[nodiscard]] void* at() const { return at_; }

private:
    std::size_t size_;
    void* at_;
};

std::size_t sizeOf(const functions::Declaration& declared) {
    return std::size_t{declared.frames} * declared.frameSize;
}

Result<UniqueFd> makeMemory(const functions::Declaration& declared, std::size_t size) {
    UniqueFd memory{::memfd_create(("tna-" + declared.name).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (!memory || ::ftruncate(memory.get(), static_cast<off_t>(size)) != 0 ||
        ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return failErrno(errno, "cannot make {} bytes of memory for '{}'", size, declared.name);
    return memory;
}

Result<UniqueFd> makeSocket(const functions::Declaration& declared) {
    UniqueFd socket{::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0)};
    if (socket)
        return socket;
    Error error{fmt::format("cannot make a socket for '{}'", declared.name),
                errnoText(errno),
                {},
                ExitCode::failure,
                errno};
    if (errno == EAFNOSUPPORT)
        error.hint = "this kernel has no AF_XDP (CONFIG_XDP_SOCKETS), or tnad's unit does not allow it";
    else if (errno == EPERM)
        error.hint = "tnad needs CAP_NET_RAW for network functions";
    return std::unexpected(std::move(error));
}

Result<void> giveMemory(int socket, const functions::Declaration& declared, const Mapped& mapped,
                        std::size_t size) {
    xdp_umem_reg area{};
    area.addr = reinterpret_cast<std::uintptr_t>(mapped.at());
    area.len = size;
    area.chunk_size = declared.frameSize;
    if (::setsockopt(socket, SOL_XDP, XDP_UMEM_REG, &area, sizeof(area)) == 0)
        return {};
    Error error{fmt::format("cannot lock {} bytes of memory for '{}'", size, declared.name),
                errnoText(errno),
                {},
                ExitCode::failure,
                errno};
    if (errno == ENOBUFS || errno == ENOMEM)
        error.hint = "lower 'frames', or let tnad lock more memory (LimitMEMLOCK= in its unit, `ulimit -l`)";
    return std::unexpected(std::move(error));
}

Result<void> makeRings(int socket, const functions::Declaration& declared, const QueueOfPort& queue) {
    const int size = static_cast<int>(declared.frames);
    std::vector<int> rings{XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_TX_RING};
    if (queue.receives)
        rings.push_back(XDP_RX_RING);
    for (const int ring : rings)
        if (::setsockopt(socket, SOL_XDP, ring, &size, sizeof(size)) != 0)
            return failErrno(errno, "cannot make the rings of '{}'", declared.name);
    if (queue.mark != 0 && ::setsockopt(socket, SOL_SOCKET, SO_MARK, &queue.mark, sizeof(queue.mark)) != 0)
        return failErrno(errno, "cannot mark what '{}' sends", declared.name);
    return {};
}

Error explainBind(int code, const functions::Declaration& declared, const QueueOfPort& queue) {
    Error error{fmt::format("cannot bind '{}' to queue {} of {}", declared.name, queue.queue, queue.name),
                errnoText(code),
                {},
                ExitCode::failure,
                code};
    if (code == EBUSY)
        error.hint = "somebody else has an AF_XDP socket there";
    else if (code == EINVAL)
        error.hint =
            fmt::format("{} may have no such queue: `ls /sys/class/net/{}/queues`", queue.name, queue.name);
    else if (code == EOPNOTSUPP && declared.mode == functions::Mode::zeroCopy)
        error.hint = "its driver cannot; mode = \"copy\" works there";
    return error;
}

Result<void> bindTo(int socket, int first, const functions::Declaration& declared, const QueueOfPort& queue) {
    sockaddr_xdp address{};
    address.sxdp_family = AF_XDP;
    address.sxdp_ifindex = queue.ifindex;
    address.sxdp_queue_id = queue.queue;
    if (first != socket) {
        address.sxdp_flags = XDP_SHARED_UMEM;
        address.sxdp_shared_umem_fd = static_cast<__u32>(first);
    } else {
        // With zero-copy, all frames of the queue lie in the function's memory, Linux's too: who does not
        // make room there stops the queue. Only where somebody has asked for it.
        address.sxdp_flags =
            XDP_USE_NEED_WAKEUP | (declared.mode == functions::Mode::zeroCopy ? XDP_ZEROCOPY : XDP_COPY);
    }
    const auto until = Clock::now() + (queue.wasLeft ? patienceWithLeft : Clock::duration::zero());
    while (::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
        if (const int code = errno; code != EBUSY || Clock::now() >= until)
            return std::unexpected(explainBind(code, declared, queue));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {};
}

/// A function maps the rings when its socket is bound, so that it can bind it nowhere else. Kernels
/// before 6.4 want that the other way round.
Result<void> checkMappable(int socket) {
    auto* at = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, socket,
                      static_cast<off_t>(XDP_UMEM_PGOFF_FILL_RING));
    if (at == MAP_FAILED)
        return std::unexpected(Error{"this kernel does not let a socket be handed over", errnoText(errno),
                                     "network functions need Linux 6.4 or newer", ExitCode::notSupported,
                                     errno});
    ::munmap(at, 4096);
    return {};
}

bool isZeroCopy(int socket) {
    xdp_options options{};
    socklen_t size = sizeof(options);
    return ::getsockopt(socket, SOL_XDP, XDP_OPTIONS, &options, &size) == 0 &&
           (options.flags & XDP_OPTIONS_ZEROCOPY) != 0;
}

/// The first one is given the memory, which the others share.
Result<void> add(XdpSockets& made, const functions::Declaration& declared, const QueueOfPort& queue,
                 const Mapped* memory) {
    auto socket = makeSocket(declared);
    if (!socket)
        return std::unexpected(socket.error());
    const int fd = socket->get();
    const int first = memory != nullptr ? fd : made.sockets.front().fd.get();
    Result<void> ready;
    if (memory != nullptr)
        ready = giveMemory(fd, declared, *memory, sizeOf(declared));
    if (ready)
        ready = makeRings(fd, declared, queue);
    if (ready)
        ready = bindTo(fd, first, declared, queue);
    if (ready)
        ready = checkMappable(fd);
    if (ready)
        made.sockets.push_back({std::move(*socket), isZeroCopy(fd)});
    return ready;
}
} // namespace

Result<XdpSockets> makeXdpSockets(const functions::Declaration& declared,
                                  const std::vector<QueueOfPort>& queues) {
    auto memory = makeMemory(declared, sizeOf(declared));
    if (!memory)
        return std::unexpected(memory.error());
    XdpSockets made{std::move(*memory), {}};
    for (const auto& queue : queues)
        if (auto added = addXdpSocket(made, declared, queue); !added)
            return std::unexpected(added.error());
    return made;
}

Result<void> addXdpSocket(XdpSockets& made, const functions::Declaration& declared,
                          const QueueOfPort& queue) {
    if (!made.sockets.empty())
        return add(made, declared, queue, nullptr);
    const Mapped mapped{made.memory.get(), sizeOf(declared)};
    if (mapped.at() == MAP_FAILED)
        return failErrno(errno, "cannot map the memory of '{}'", declared.name);
    return add(made, declared, queue, &mapped);
}

} // namespace tna::deploy
