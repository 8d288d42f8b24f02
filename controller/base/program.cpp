// SPDX-License-Identifier: Apache-2.0
#include "base/program.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <ios>
#include <new>
#include <system_error>
#include <unistd.h>

namespace tna {

namespace {
/// Standard input, output and errors that are closed would be the numbers of the next files that are opened,
/// and these would get what is printed. What is written to a file that is open for reading fails instead.
void openStandardFiles() {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) // open() takes the lowest number, which is this one
            [[maybe_unused]]
            const int opened = ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int failed(const char* name, const char* what, const char* why, const char* hint) {
    std::fprintf(stderr, "%s: %s%s%s (%s)\n", name, what, *why != '\0' ? ": " : "", why, hint);
    return static_cast<int>(ExitCode::failure);
}

int failedForMemory(const char* name) {
    return failed(name, "there is not enough memory", "",
                  "more than the machine has, or than a limit allows: see `ulimit -v`");
}

const char* programName = "";
std::terminate_handler terminatedBefore = nullptr;

/// Threads may find no memory, too, also where nothing may be thrown.
[[noreturn]] void endOfThread() {
    try {
        if (const auto thrown = std::current_exception())
            std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
        std::_Exit(failedForMemory(programName));
    } catch (...) { // what it says is told by the other one
    }
    terminatedBefore();
    std::abort();
}

/// Output that a full disk has swallowed is a failure, whatever the program has done.
int finish(const char* name, int code) {
    errno = 0;
    const bool flushed = std::fflush(stdout) == 0;
    if (flushed && std::ferror(stdout) == 0)
        return code;
    const int why = errno;
    // What could not be written then does not have to be tried again at exit.
    failed(name, "cannot write to standard output", why != 0 ? std::strerror(why) : "",
           "what was printed is not complete");
    return code != 0 ? code : static_cast<int>(ExitCode::failure);
}

int guarded(const char* name, const std::function<int()>& main) {
    constexpr const char* report = "please report it";
    try {
        return main();
    } catch (const std::bad_alloc&) {
        return failedForMemory(name);
    } catch (const std::system_error& error) {
        // fmt::print() throws it where the output does not take what is written: finish() tells.
        if (std::ferror(stdout) != 0)
            return static_cast<int>(ExitCode::failure);
        if (error.code() == std::errc::resource_unavailable_try_again)
            return failed(name, "cannot start a thread", error.what(),
                          "a limit on processes or memory is reached: see `ulimit -u` and `ulimit -v`");
        return failed(name, "failed", error.what(), "does it have the files and rights that it needs?");
    } catch (const std::exception& exception) {
        return failed(name, "this should not have happened", exception.what(), report);
    } catch (...) {
        return failed(name, "this should not have happened", "", report);
    }
}
} // namespace

int runProgram(const char* name, const std::function<int()>& main) noexcept {
    openStandardFiles();
    programName = name;
    terminatedBefore = std::set_terminate(endOfThread);
    return finish(name, guarded(name, main));
}

} // namespace tna
