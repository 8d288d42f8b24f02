// SPDX-License-Identifier: Apache-2.0
#include "daemon/function_server.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tna::daemon {

namespace {
using Clock = std::chrono::steady_clock;
constexpr std::size_t mostClients = 256;
constexpr std::ptrdiff_t mostOfOneUser = 64;
constexpr auto patienceWithSilence = std::chrono::seconds(2); ///< with who has connected and says nothing

bool send(int to, const void* message, std::size_t size, const std::vector<UniqueFd>& descriptors) {
    constexpr std::size_t most = 3;
    iovec part{const_cast<void*>(message), size};
    alignas(cmsghdr) char control[CMSG_SPACE(most * sizeof(int))]{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (!descriptors.empty()) {
        header.msg_control = control;
        header.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
        auto* rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
        for (std::size_t i = 0; i < descriptors.size(); i++) {
            const int fd = descriptors[i].get();
            std::memcpy(CMSG_DATA(rights) + i * sizeof(int), &fd, sizeof(fd));
        }
    }
    return ::sendmsg(to, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

tna_function_answer refusal(const FunctionControl::Refused& refused) {
    tna_function_answer answer{};
    answer.protocol = TNA_FUNCTION_PROTOCOL;
    answer.refusal = refused.forGood ? TNA_FUNCTION_NOT_ALLOWED : TNA_FUNCTION_NOT_YET;
    const auto sentence = refused.error.sentence();
    std::memcpy(answer.why, sentence.data(), std::min(sentence.size(), sizeof(answer.why) - 1));
    return answer;
}
} // namespace

Result<std::unique_ptr<FunctionServer>> FunctionServer::start(FunctionRequests& functions,
                                                              api::Listening listening) {
    UniqueFd wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (!wake)
        return failErrno(errno, "cannot make an eventfd for network functions");
    return std::unique_ptr<FunctionServer>(
        new FunctionServer(functions, std::move(listening), std::move(wake)));
}

FunctionServer::FunctionServer(FunctionRequests& functions, api::Listening place, UniqueFd wake)
    : functions_(functions), place_(std::move(place)), listening_(place_.take()), wake_(std::move(wake)),
      thread_([this] { run(); }) {}

FunctionServer::~FunctionServer() {
    stopping_ = true;
    ::eventfd_write(wake_.get(), 1);
    thread_.join();
}

void FunctionServer::run() {
    while (!stopping_)
        wait();
}

void FunctionServer::wait() {
    std::vector<pollfd> watched{{wake_.get(), POLLIN, 0}, {listening_.get(), POLLIN, 0}};
    bool anySilent = false;
    for (const auto& client : clients_) {
        watched.push_back({client.fd.get(), POLLIN, 0});
        anySilent |= client.connection == 0;
    }
    const int timeout =
        anySilent ? static_cast<int>(std::chrono::milliseconds(patienceWithSilence).count()) : -1;
    if (::poll(watched.data(), watched.size(), timeout) < 0 && errno != EINTR) {
        spdlog::error("cannot wait for network functions: {}", errnoText(errno));
        std::this_thread::sleep_for(std::chrono::seconds(1));
        return;
    }
    for (std::size_t i = clients_.size(); i-- > 0;) {
        auto& client = clients_[i];
        const bool late = client.connection == 0 && Clock::now() >= client.deadline;
        // What had come before it was looked at is in time, however long the others have taken.
        if (watched[i + 2].revents == 0 ? !late : serve(client))
            continue;
        if (client.connection != 0)
            functions_.disconnected(client.connection);
        clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (watched[1].revents != 0)
        accept();
}

void FunctionServer::accept() {
    UniqueFd fd{::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!fd) {
        if (errno == EMFILE || errno == ENFILE)
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        return;
    }
    const auto peer = api::peerOf(fd.get());
    if (!peer || clients_.size() >= mostClients ||
        std::ranges::count(clients_, peer->user, &Client::user) >= mostOfOneUser)
        return;
    clients_.push_back({std::move(fd), peer->user, 0, Clock::now() + patienceWithSilence});
}

bool FunctionServer::serve(Client& client) {
    if (client.connection == 0)
        return greet(client);
    // There is nothing to be said any more, but to hang up.
    char ignored[64];
    const auto got = ::recv(client.fd.get(), ignored, sizeof(ignored), 0);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

bool FunctionServer::greet(Client& client) {
    tna_function_greeting greeting{};
    const auto got = ::recv(client.fd.get(), &greeting, sizeof(greeting), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    const auto refuse = [&](const FunctionControl::Refused& refused) {
        const auto answer = refusal(refused);
        (void)send(client.fd.get(), &answer, sizeof(answer), {});
        return false;
    };
    if (got != static_cast<ssize_t>(sizeof(greeting)) || greeting.protocol != TNA_FUNCTION_PROTOCOL)
        return refuse(
            {{"this tnad speaks another protocol", {}, "use the libtna-function of its version"}, true});
    const std::string name{greeting.name, ::strnlen(greeting.name, sizeof(greeting.name))};
    const auto peer = api::peerOf(client.fd.get());
    ucred credentials{};
    socklen_t size = sizeof(credentials);
    if (!peer || ::getsockopt(client.fd.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
        return false;
    auto handed = functions_.connect(name, *peer,
                                     {peer->user, credentials.pid, greeting.queue, greeting.gives_back != 0,
                                      UniqueFd{::fcntl(client.fd.get(), F_DUPFD_CLOEXEC, 0)}});
    if (!handed)
        return refuse(handed.error());
    client.connection = handed->id;
    bool sent = send(client.fd.get(), &handed->answer, sizeof(handed->answer), {});
    for (const auto& part : handed->parts)
        sent = sent && send(client.fd.get(), &part.about, sizeof(part.about), part.descriptors);
    return sent;
}

} // namespace tna::daemon
