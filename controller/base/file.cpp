// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include "base/unique_fd.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>

namespace tna {

Result<std::string> readFile(const std::string& path) {
    const UniqueFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!fd)
        return failErrno(errno, "cannot open {}", path);
    std::string content;
    std::array<char, 65536> buffer{};
    for (;;) {
        const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
        if (n == 0)
            return content;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failErrno(errno, "cannot read {}", path);
        content.append(buffer.data(), static_cast<size_t>(n));
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
