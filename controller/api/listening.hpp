// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"

#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>

namespace tna::api {

/// The id of a group; nothing if there is none of this name.
[[nodiscard]] std::optional<gid_t> idOf(const std::string& group);

/// A socket that listens, and its place in the file system, which goes along with it.
class Listening {
public:
    /// Of a socket that is bound to this path.
    Listening(UniqueFd fd, std::string path);
    /// Takes the socket at the path away, unless it is another one by now.
    ~Listening();
    Listening(Listening&& other) noexcept
        : fd_(std::move(other.fd_)), path_(std::exchange(other.path_, {})),
          file_(std::exchange(other.file_, {})) {}
    Listening& operator=(Listening&&) = delete;

    /// Who accepts; the place stays.
    [[nodiscard]] UniqueFd take() { return std::move(fd_); }

private:
    UniqueFd fd_;
    std::string path_;
    std::pair<dev_t, ino_t> file_;
};

/// A Unix stream socket of mode 0660 at a path, which belongs to a group if there is one of this name.
/// Whatever else lies there stays there, but for a socket that nobody answers on.
[[nodiscard]] Result<Listening> listenOn(const std::string& path, const std::string& group);

/// The same for messages (SOCK_SEQPACKET), of mode 0666: anybody may knock.
[[nodiscard]] Result<Listening> listenForAnybody(const std::string& path);

} // namespace tna::api
