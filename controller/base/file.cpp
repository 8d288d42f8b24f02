// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include "base/unique_fd.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

namespace tna {

namespace {
/// Appends what comes next: the number of bytes, 0 at the end, or -errno.
ssize_t readSome(int fd, std::string& content) {
    std::array<char, 65536> buffer{};
    for (;;) {
        const ssize_t n = ::read(fd, buffer.data(), buffer.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        content.append(buffer.data(), static_cast<size_t>(n));
        return n;
    }
}

const char* kindOf(mode_t mode) {
    return S_ISDIR(mode) ? "a folder" : S_ISSOCK(mode) ? "a socket" : "a device";
}

std::unexpected<Error> noFile(std::string what, std::string hint) {
    return std::unexpected(Error{std::move(what), {}, std::move(hint), ExitCode::usage});
}
} // namespace

Result<std::string> readFile(const std::string& path) {
    const UniqueFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!fd)
        return failErrno(errno, "cannot open {}", path);
    std::string content;
    for (;;) {
        const auto n = readSome(fd.get(), content);
        if (n == 0)
            return content;
        if (n < 0)
            return failErrno(static_cast<int>(n), "cannot read {}", path);
    }
}

Result<std::string> readNamedFile(const std::string& path, std::size_t most,
                                  std::chrono::milliseconds patience) {
    // Opening a FIFO that nobody writes to would wait.
    const UniqueFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    struct stat status{};
    if (!fd || ::fstat(fd.get(), &status) != 0)
        return std::unexpected(failErrno(errno, "cannot open {}", path)
                                   .error()
                                   .withCode(ExitCode::usage)
                                   .withHint("is the name right?"));
    if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode))
        return noFile(path + " is no file, but " + kindOf(status.st_mode), "name a file");
    const auto tooLarge = [&] {
        return noFile(fmt::format("{} is larger than {} MiB", path, most >> 20U), "is it the right file?");
    };
    if (S_ISREG(status.st_mode) && status.st_size > static_cast<off_t>(most))
        return tooLarge();
    std::string content;
    for (;;) {
        const auto n = readSome(fd.get(), content);
        if (content.size() > most)
            return tooLarge();
        // A FIFO that nobody has opened for writing yet looks as if it had ended.
        const bool early = n == 0 && S_ISFIFO(status.st_mode) && content.empty();
        if (n == 0 && !early)
            return content;
        if (n < 0 && n != -EAGAIN)
            return failErrno(static_cast<int>(n), "cannot read {}", path);
        pollfd waiting{fd.get(), POLLIN, 0};
        if (n <= 0 && ::poll(&waiting, 1, static_cast<int>(patience.count())) == 0)
            return noFile("nothing comes out of " + path, "it is a pipe: does somebody write into it?");
        if (early && (waiting.revents & POLLIN) == 0)
            return content; // who wrote has ended
    }
}

Result<void> writeFile(const std::string& path, const std::string& content) {
    const UniqueFd fd{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
    if (!fd)
        return failErrno(errno, "cannot open {} for writing", path);
    if (::write(fd.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()))
        return failErrno(errno, "cannot write {}", path);
    return {};
}

} // namespace tna
