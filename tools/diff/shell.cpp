// SPDX-License-Identifier: Apache-2.0
#include "diff/shell.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

namespace tna::diff {

namespace {
/// Follows the output of each line, with its exit code.
const std::string mark = "\x1etna-diff ";
constexpr int patience = 300000; ///< milliseconds without a word from a command: machines may be emulated

[[noreturn]] void become(const NetNamespace& home, const std::string& world, int input, int output,
                         pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent || !home.enter())
        ::_exit(126);
    ::setsid(); // so that all it starts can be ended with it
    // Where that cannot be had, commands that read /sys see another namespace's.
    if (::unshare(CLONE_NEWNS) == 0 && ::mount("", "/", "", MS_REC | MS_PRIVATE, nullptr) == 0)
        ::mount("sysfs", "/sys", "sysfs", 0, nullptr);
    ::setenv("WORLD", world.c_str(), 1);
    ::dup2(input, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    ::execlp("sh", "sh", nullptr);
    ::_exit(127);
}
} // namespace

Result<Shell> Shell::start(const NetNamespace& home, const std::string& world) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in.data()) != 0)
        return failErrno(errno, "cannot make a pair of sockets");
    UniqueFd read{in[0]}, write{in[1]};
    if (::pipe2(out.data(), O_CLOEXEC) != 0)
        return failErrno(errno, "cannot make a pipe");
    UniqueFd from{out[0]}, to{out[1]};
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0)
        return failErrno(errno, "cannot start a shell");
    if (child == 0)
        become(home, world, read.get(), to.get(), parent);
    return Shell(child, std::move(write), std::move(from));
}

Shell::~Shell() {
    if (pid_ < 0)
        return;
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

Result<std::string> Shell::run(const std::string& words) const {
    const auto line = fmt::format("{{ {}\n}} </dev/null; printf '{}%s\\n' $?\n", words, mark);
    // Should it have ended, this is an error to tell of, not a signal.
    if (::send(in_.get(), line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
        return failErrno(errno, "the shell does not take '{}'", words);
    std::string output;
    for (;;) {
        pollfd waiting{out_.get(), POLLIN, 0};
        const int ready = ::poll(&waiting, 1, patience);
        if (ready == 0)
            return fail("'{}' does not end", words);
        if (ready < 0)
            return failErrno(errno, "interrupted while '{}' was running", words);
        std::array<char, 4096> buffer{};
        const auto n = ::read(out_.get(), buffer.data(), buffer.size());
        if (n <= 0)
            return std::unexpected(
                Error{fmt::format("the shell ended when it was told '{}'", words), output, {}});
        output.append(buffer.data(), static_cast<std::size_t>(n));
        if (const auto at = output.rfind(mark); at != std::string::npos && output.ends_with('\n')) {
            const auto code = output.substr(at + mark.size(), output.size() - at - mark.size() - 1);
            return code + " " + output.substr(0, at);
        }
    }
}

Result<void> Shell::must(const std::string& words) const {
    const auto said = run(words);
    if (!said)
        return std::unexpected(said.error());
    if (!said->starts_with("0 "))
        return std::unexpected(
            Error{fmt::format("'{}' failed", words), said->substr(said->find(' ') + 1), {}});
    return {};
}

} // namespace tna::diff
