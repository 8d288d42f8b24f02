// SPDX-License-Identifier: Apache-2.0
// The C library's functions by which libbpf, libmnl and the controller reach the kernel, with faults.
#include "fault.hpp"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <dlfcn.h>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tna::test {

namespace {
struct Plan {
    Call call;
    unsigned number;
    int error; ///< 0: it is made
    std::function<void()> before = [] {};
    std::function<void()> after = [] {};
};
Plan plan;
std::atomic<pid_t>* reader = nullptr; ///< shared with other processes; null: readers read
std::atomic<bool> armed = false;
std::atomic<unsigned> made = 0;

template <typename Function>
Function* original(Function*, const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

void begin(Plan wanted) {
    plan = std::move(wanted);
    made = 0;
    armed = true;
}

/// Whether this is the call that is to go wrong.
bool strikes(Call call) {
    return armed && plan.call == call && made++ == plan.number;
}

/// Around a call: false if it is not to be made, errno says why.
bool mayCall(bool strike) {
    if (!strike)
        return true;
    plan.before();
    errno = plan.error;
    return plan.error == 0;
}

template <typename Answer>
Answer afterCall(bool strike, Answer answer) {
    if (strike)
        plan.after();
    return answer;
}

bool isNetlink(int fd) {
    int domain = 0;
    socklen_t size = sizeof(domain);
    const int before = errno;
    const bool found = ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_NETLINK;
    errno = before;
    return found;
}

/// A message that was received, or was to be.
ssize_t received(int fd, ssize_t size) {
    if (!armed || size < 0 || !isNetlink(fd))
        return size;
    const bool strike = strikes(Call::netlink);
    return mayCall(strike) ? afterCall(strike, size) : -1;
}
} // namespace

Fault::Fault(Call call, unsigned number, int error) {
    begin({call, number, error});
}

Fault::Fault(Call call, unsigned number, Kill when) {
    Plan wanted{call, number, 0};
    (when == Kill::before ? wanted.before : wanted.after) = [] { ::kill(::getpid(), SIGKILL); };
    begin(std::move(wanted));
}

Fault::Fault(Call call, unsigned number, std::function<void()> meanwhile) {
    begin({call, number, 0, std::move(meanwhile)});
}

Fault::~Fault() {
    armed = false;
}

bool Fault::happened() {
    return made > plan.number;
}

unsigned Fault::calls() {
    return made;
}

HangingReader::HangingReader() {
    void* memory =
        ::mmap(nullptr, sizeof(*reader), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    reader = memory == MAP_FAILED ? nullptr : new (memory) std::atomic<pid_t>{0};
}

HangingReader::~HangingReader() {
    if (there())
        ::kill(*reader, SIGKILL);
    ::munmap(reader, sizeof(*reader));
    reader = nullptr;
}

bool HangingReader::there() {
    return reader != nullptr && *reader != 0;
}

} // namespace tna::test

using tna::test::Call;

extern "C" {

long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long words[6];
    for (auto& word : words)
        word = va_arg(list, long);
    va_end(list);
    static const auto real = tna::test::original(&::syscall, "syscall");
    const bool strike = number == SYS_bpf && tna::test::strikes(Call::bpf);
    if (!tna::test::mayCall(strike))
        return -1;
    return tna::test::afterCall(strike,
                                real(number, words[0], words[1], words[2], words[3], words[4], words[5]));
}

int socket(int domain, int type, int protocol) noexcept {
    static const auto real = tna::test::original(&::socket, "socket");
    const bool strike = domain == AF_NETLINK && tna::test::strikes(Call::netlink);
    return tna::test::mayCall(strike) ? tna::test::afterCall(strike, real(domain, type, protocol)) : -1;
}

ssize_t sendto(int fd, const void* data, size_t size, int flags, const sockaddr* to, socklen_t length) {
    static const auto real = tna::test::original(&::sendto, "sendto");
    const bool strike = tna::test::armed && tna::test::isNetlink(fd) && tna::test::strikes(Call::netlink);
    return tna::test::mayCall(strike) ? tna::test::afterCall(strike, real(fd, data, size, flags, to, length))
                                      : -1;
}

ssize_t recvmsg(int fd, msghdr* message, int flags) {
    static const auto real = tna::test::original(&::recvmsg, "recvmsg");
    return tna::test::received(fd, real(fd, message, flags));
}

ssize_t recv(int fd, void* data, size_t size, int flags) {
    static const auto real = tna::test::original(&::recv, "recv");
    return tna::test::received(fd, real(fd, data, size, flags));
}

/// Which readers do, and nobody else.
unsigned alarm(unsigned seconds) noexcept {
    static const auto real = tna::test::original(&::alarm, "alarm");
    if (tna::test::reader == nullptr)
        return real(seconds);
    *tna::test::reader = ::getpid();
    for (;;)
        ::pause();
}

int open(const char* path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;
    va_end(list);
    static const auto real = tna::test::original(&::open, "open");
    const bool strike = tna::test::strikes(Call::file);
    return tna::test::mayCall(strike) ? tna::test::afterCall(strike, real(path, flags, mode)) : -1;
}

} // extern "C"
