// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/last_will.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tna::bench {

namespace {
constexpr char ready = 'r';
constexpr char revoked = 'x';
constexpr int firstFree = 3;

/// Nothing of the program that dies must be kept alive by this process: a pipe that others wait at the end
/// of, a device.
void closeAllBut(int line) {
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        ::dup2(nothing, standard);
    if (line != firstFree)
        ::dup2(line, firstFree);
    ::close_range(firstFree + 1, ~0U, 0);
}

[[noreturn]] void wait(int line, const std::function<Result<LastWill::Execute>()>& prepare) {
    ::setsid();
    ::prctl(PR_SET_NAME, "tna-last-will");
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
        std::signal(number, SIG_IGN);
    const auto execute = prepare();
    const std::string answer = execute ? std::string{ready} : execute.error().sentence();
    [[maybe_unused]] const auto told = ::write(line, answer.data(), answer.size());
    if (!execute)
        ::_exit(1);
    closeAllBut(line);
    char word = 0;
    ssize_t length = 0;
    do
        length = ::read(firstFree, &word, 1);
    while (length < 0 && errno == EINTR);
    if (length != 1 || word != revoked)
        (*execute)();
    ::_exit(0);
}
} // namespace

Result<LastWill> LastWill::leave(const std::function<Result<Execute>()>& prepare) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return failErrno(errno, "cannot make a pair of sockets");
    UniqueFd own{ends[0]};
    UniqueFd other{ends[1]};
    const pid_t executor = ::fork();
    if (executor < 0)
        return failErrno(errno, "cannot start a process");
    if (executor == 0) {
        own.reset();
        wait(other.get(), prepare);
    }
    other.reset();
    LastWill will{executor, std::move(own)};
    std::array<char, 512> answer{};
    const auto length = ::read(will.line_.get(), answer.data(), answer.size());
    if (length == 1 && answer[0] == ready)
        return will;
    return fail("{}", length > 0 ? std::string(answer.data(), static_cast<std::size_t>(length))
                                 : std::string{"the process that puts things back ended"});
}

LastWill::~LastWill() {
    if (executor_ <= 0)
        return;
    [[maybe_unused]] const auto told = ::send(line_.get(), &revoked, 1, MSG_NOSIGNAL);
    line_.reset();
    while (::waitpid(executor_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

} // namespace tna::bench
