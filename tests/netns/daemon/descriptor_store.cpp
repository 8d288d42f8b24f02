// SPDX-License-Identifier: Apache-2.0
#include "netns/daemon/descriptor_store.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <sys/socket.h>
#include <sys/un.h>
#include <utility>

namespace tna::test {

DescriptorStore::DescriptorStore(std::string path)
    : path_(std::move(path)), socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
        thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

std::size_t DescriptorStore::size() const {
    const std::lock_guard lock{mutex_};
    return stored_.size();
}

std::vector<DescriptorStore::Stored> DescriptorStore::take() {
    const std::lock_guard lock{mutex_};
    return std::exchange(stored_, {});
}

void DescriptorStore::put(std::vector<Stored> stored) {
    const std::lock_guard lock{mutex_};
    std::ranges::move(stored, std::back_inserter(stored_));
}

/// The program finds them from the third descriptor on, and nowhere else.
std::vector<std::string> DescriptorStore::prefix() const {
    const std::lock_guard lock{mutex_};
    std::string names, moves;
    for (std::size_t i = 0; i < stored_.size(); i++) {
        const auto fd = std::to_string(stored_[i].fd.get());
        names += (i == 0 ? "" : ":") + stored_[i].name;
        moves += " " + std::to_string(i + 3) + "<&" + fd + " " + fd + "<&-";
    }
    auto script = "export NOTIFY_SOCKET='" + path_ + "'; ";
    if (!stored_.empty())
        script += "export LISTEN_PID=$$ LISTEN_FDS=" + std::to_string(stored_.size()) + " LISTEN_FDNAMES='" +
                  names + "'; ";
    return {"bash", "-c", script + "exec \"$@\"" + moves, "bash"};
}

void DescriptorStore::run(const std::stop_token& stop) {
    pollfd readable{socket_.get(), POLLIN, 0};
    while (!stop.stop_requested())
        if (::poll(&readable, 1, 10) > 0)
            receive();
}

void DescriptorStore::receive() {
    constexpr std::size_t most = 16;
    constexpr int highest = 100;
    char text[4096];
    alignas(cmsghdr) char control[CMSG_SPACE(most * sizeof(int))];
    iovec part{text, sizeof(text)};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    // Whoever inherits them is to have them.
    const auto size = ::recvmsg(socket_.get(), &message, 0);
    if (size < 0)
        return;
    std::vector<UniqueFd> fds;
    for (auto* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
            continue;
        for (std::size_t i = 0; i < (head->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(int));
            fds.emplace_back(
                ::fcntl(fd, F_DUPFD, highest)); // beyond those that the next process finds them by
            ::close(fd);
        }
    }
    obey({text, static_cast<std::size_t>(size)}, std::move(fds));
}

/// Whatever is not stored is closed, which is how a barrier is answered.
void DescriptorStore::obey(const std::string& message, std::vector<UniqueFd> fds) {
    std::istringstream lines{message};
    std::string line, name;
    bool keep = false, forget = false;
    while (std::getline(lines, line)) {
        keep |= line == "FDSTORE=1";
        forget |= line == "FDSTOREREMOVE=1";
        if (line.starts_with("FDNAME="))
            name = line.substr(line.find('=') + 1);
    }
    const std::lock_guard lock{mutex_};
    if (forget)
        std::erase_if(stored_, [&](const auto& stored) { return stored.name == name; });
    for (auto& fd : fds)
        if (keep)
            stored_.push_back({name, std::move(fd)});
}

} // namespace tna::test
