// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/process.hpp"

#include "base/file.hpp"
#include "bench/testbed/temporary_folder.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <fmt/ranges.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>

namespace tna::bench {

namespace {
constexpr auto patience = std::chrono::seconds(20);

std::vector<char*> argumentVector(const std::vector<std::string>& arguments) {
    std::vector<char*> argv;
    for (const auto& argument : arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    return argv;
}

[[noreturn]] void become(const std::vector<std::string>& arguments) {
    auto argv = argumentVector(arguments);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
}

std::string readAll(int fd) {
    std::string output;
    std::array<char, 4096> buffer{};
    for (ssize_t n = 0; (n = ::read(fd, buffer.data(), buffer.size())) > 0;)
        output.append(buffer.data(), static_cast<std::size_t>(n));
    return output;
}
} // namespace

Result<void> runProgram(const std::vector<std::string>& arguments) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
        return failErrno(errno, "cannot make a pipe");
    const UniqueFd from{pipe[0]};
    UniqueFd to{pipe[1]};
    const pid_t child = ::fork();
    if (child < 0)
        return failErrno(errno, "cannot start {}", arguments.front());
    if (child == 0) {
        ::dup2(to.get(), STDOUT_FILENO);
        ::dup2(to.get(), STDERR_FILENO);
        // Setting up and cleaning up are not cut in half by Ctrl-C.
        ::setpgid(0, 0);
        become(arguments);
    }
    to.reset();
    const auto output = readAll(from.get());
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return {};
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127 && output.empty())
        return fail("cannot run '{}': is it installed?", arguments.front());
    return std::unexpected(Error{fmt::format("'{}' failed", fmt::join(arguments, " ")), output, {}});
}

Result<void> runCommand(const std::string& words) {
    std::istringstream stream{words};
    std::vector<std::string> arguments;
    for (std::string word; stream >> word;)
        arguments.push_back(word);
    return runProgram(arguments);
}

Result<void> runBatch(const std::string& program, const std::string& name, const std::string& lines) {
    const auto folder = TemporaryFolder::make();
    if (!folder)
        return std::unexpected(folder.error());
    const auto file = folder->path() + "/batch";
    if (auto written = writeFile(file, lines); !written)
        return written;
    return runProgram({program, "-n", name, "-batch", file});
}

std::string lastLine(const std::string& file) {
    auto text = readFile(file).value_or("");
    while (text.ends_with('\n'))
        text.pop_back();
    const auto line = text.rfind('\n');
    return line == std::string::npos ? text : text.substr(line + 1);
}

Result<Process> Process::start(const std::vector<std::string>& arguments, const std::string& errorFile) {
    const UniqueFd errors{::open(errorFile.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    if (!errors)
        return failErrno(errno, "cannot open {} for writing", errorFile);
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
        return failErrno(errno, "cannot make a pipe");
    const UniqueFd from{pipe[0]};
    UniqueFd to{pipe[1]};
    const pid_t parent = ::getpid();
    const auto startedAt = std::chrono::steady_clock::now();
    const pid_t child = ::fork();
    if (child < 0)
        return failErrno(errno, "cannot start {}", arguments.front());
    if (child == 0) {
        ::setpgid(0, 0);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent)
            ::_exit(127);
        ::dup2(from.get(), STDIN_FILENO);
        ::dup2(errors.get(), STDOUT_FILENO);
        ::dup2(errors.get(), STDERR_FILENO);
        become(arguments);
    }
    return Process{child, startedAt, std::move(to)};
}

Process::~Process() {
    end(SIGKILL);
}

bool Process::running() {
    if (pid_ <= 0 || ::waitpid(pid_, &status_, WNOHANG) == 0)
        return pid_ > 0;
    pid_ = -1;
    return false;
}

void Process::signal(int number) {
    if (running())
        ::kill(pid_, number);
}

void Process::end(int signal) {
    if (!running())
        return;
    ::kill(pid_, signal);
    awaitEnd();
}

Result<void> Process::tell(const std::string& text) {
    // It may have ended: that is no reason for this program to end.
    const auto handler = std::signal(SIGPIPE, SIG_IGN);
    const auto written = ::write(input_.get(), text.data(), text.size());
    const int reason = errno;
    std::signal(SIGPIPE, handler);
    return written == static_cast<ssize_t>(text.size()) ? Result<void>{}
                                                        : failErrno(reason, "cannot tell it anything");
}

void Process::endByInput() {
    input_.reset();
    awaitEnd();
}

void Process::awaitEnd() {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (running()) {
        if (std::chrono::steady_clock::now() > deadline)
            ::kill(pid_, SIGKILL);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

std::string Process::ending() const {
    if (pid_ > 0)
        return {};
    return WIFEXITED(status_) ? fmt::format("it ended with exit code {}", WEXITSTATUS(status_))
                              : fmt::format("it was ended by signal {}", WTERMSIG(status_));
}

double Process::cpuSeconds() const {
    clockid_t clock{};
    timespec time{};
    if (pid_ <= 0 || ::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0)
        return 0;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::uint64_t Process::residentBytes() const {
    const auto status = readFile(fmt::format("/proc/{}/status", pid_));
    const auto at = status ? status->find("VmRSS:") : std::string::npos;
    if (at == std::string::npos)
        return 0;
    std::uint64_t kibibytes = 0;
    const auto digits = status->find_first_of("0123456789", at);
    std::from_chars(status->data() + digits, status->data() + status->size(), kibibytes);
    return kibibytes * 1024;
}

} // namespace tna::bench
