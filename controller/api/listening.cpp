// SPDX-License-Identifier: Apache-2.0
#include "api/listening.hpp"

#include <cerrno>
#include <filesystem>
#include <grp.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace tna::api {

std::optional<gid_t> idOf(const std::string& group) {
    const ::group* entry = group.empty() ? nullptr : ::getgrnam(group.c_str());
    return entry == nullptr ? std::nullopt : std::optional(entry->gr_gid);
}

namespace {
/// Who has connected and is not accepted yet: others wait behind them, in the order in which they came.
constexpr int mostWaiting = 128;

sockaddr_un addressOf(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    return address;
}

/// Whether somebody listens on a socket that lies there already: also one who is busy (EAGAIN), or expects
/// another kind of socket.
bool somebodyAnswers(const std::string& path) {
    const auto address = addressOf(path);
    const UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    return fd && (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
                  errno == EAGAIN || errno == EPROTOTYPE);
}

/// As /run/tna, where that is not there yet. More than one would be a name with a mistake in it, and those of
/// the root directory are not ours to make.
Result<void> makeFolder(const std::string& path) {
    const auto folder = std::filesystem::path(path).parent_path();
    const auto above = folder.parent_path();
    std::error_code error;
    if (folder.empty() || std::filesystem::is_directory(folder, error))
        return {};
    const bool ours = above.empty() || (above != "/" && std::filesystem::is_directory(above, error));
    if (ours)
        std::filesystem::create_directory(folder, error);
    if (!ours || error)
        return std::unexpected(Error{"cannot make the directory of the socket " + path,
                                     ours ? error.message() : folder.string() + " is not there",
                                     "make it, or choose another --socket"});
    return {};
}

Result<void> clearPath(const std::string& path) {
    if (path.size() >= sizeof(sockaddr_un::sun_path))
        return std::unexpected(Error{fmt::format("the socket path {} is too long", path),
                                     fmt::format("{} bytes are the most", sizeof(sockaddr_un::sun_path) - 1),
                                     "choose another --socket", ExitCode::usage});
    if (auto made = makeFolder(path); !made)
        return made;
    std::error_code error;
    if (somebodyAnswers(path))
        return std::unexpected(
            Error{"another tnad is running", "it answers on " + path, "stop it, or choose another --socket"});
    if (std::filesystem::is_socket(path, error))
        std::filesystem::remove(path, error);
    else if (std::filesystem::exists(path, error))
        return std::unexpected(Error{"cannot make the socket " + path, "something else lies there",
                                     "remove it, or choose another --socket"});
    return {};
}

void setOwner(const std::string& path, const std::string& group) {
    const auto id = idOf(group);
    if (id && ::chown(path.c_str(), static_cast<uid_t>(-1), *id) != 0)
        spdlog::warn("cannot give {} to the group '{}': {}", path, group, errnoText(errno));
    if (::chmod(path.c_str(), S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP) != 0)
        spdlog::warn("cannot set the mode of {}: {}", path, errnoText(errno));
}

/// Which file lies there.
std::pair<dev_t, ino_t> fileAt(const std::string& path) {
    struct stat found{};
    return ::lstat(path.c_str(), &found) == 0 ? std::pair{found.st_dev, found.st_ino}
                                              : std::pair<dev_t, ino_t>{};
}

/// Of a socket of this type that nobody but its owner and its group can open.
Result<Listening> bindTo(const std::string& path, int type) {
    if (auto cleared = clearPath(path); !cleared)
        return std::unexpected(cleared.error());
    const auto address = addressOf(path);
    UniqueFd fd{::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    // The socket must not be open to others before its mode is set.
    const auto before = ::umask(0117);
    const bool bound =
        fd && ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    const int error = errno;
    ::umask(before);
    if (!bound || ::listen(fd.get(), mostWaiting) != 0)
        return std::unexpected(
            Error{"cannot listen on " + path, errnoText(bound ? errno : error), "choose another --socket"});
    return Listening{std::move(fd), path};
}
} // namespace

Listening::Listening(UniqueFd fd, std::string path)
    : fd_(std::move(fd)), path_(std::move(path)), file_(fileAt(path_)) {}

Listening::~Listening() {
    if (!path_.empty() && fileAt(path_) == file_)
        ::unlink(path_.c_str());
}

Result<Listening> listenOn(const std::string& path, const std::string& group) {
    auto listening = bindTo(path, SOCK_STREAM);
    if (listening)
        setOwner(path, group);
    return listening;
}

Result<Listening> listenForAnybody(const std::string& path) {
    auto listening = bindTo(path, SOCK_SEQPACKET);
    if (listening && ::chmod(path.c_str(), 0666) != 0)
        return failErrno(errno, "cannot let network functions use {}", path);
    return listening;
}

} // namespace tna::api
