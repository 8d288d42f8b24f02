// SPDX-License-Identifier: Apache-2.0
#include "daemon/function_connections.hpp"

#include "deploy/functions/xdp_sockets.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace tna::daemon {

namespace {
/// Queues of the way back that a user may keep without being connected: a process that was a function may
/// have kept its socket.
constexpr unsigned mostKept = 8;

/// In the function's own order; 0: it is not there.
std::vector<unsigned> portsOf(const functions::Declaration& declared, const model::Network& network) {
    std::vector<unsigned> ports;
    for (const auto& name : declared.ports) {
        const auto it =
            std::ranges::find_if(network.links, [&](const auto& item) { return item.second.name == name; });
        ports.push_back(it == network.links.end() ? 0 : it->first);
    }
    return ports;
}

std::vector<deploy::QueueOfPort> placesToBind(const functions::Declaration& declared,
                                              const std::vector<unsigned>& ports,
                                              const std::vector<unsigned>& queues) {
    std::vector<deploy::QueueOfPort> bound;
    for (std::size_t port = 0; port < ports.size(); port++)
        for (const auto queue : queues)
            if (ports[port] != 0)
                bound.push_back({ports[port], declared.ports[port], queue});
    return bound;
}

/// Where the calling thread is; 0: nowhere that a port could be.
std::uint32_t thisNamespace() {
    struct stat status{};
    return ::stat("/proc/thread-self/ns/net", &status) == 0 ? static_cast<std::uint32_t>(status.st_ino) : 0;
}

template <std::size_t size>
void copyText(char (&to)[size], const std::string& from) {
    std::memcpy(to, from.data(), std::min(from.size(), size - 1));
}
} // namespace

std::optional<Error> FunctionConnections::obstacle(const FunctionSet::Function& function,
                                                   const std::vector<unsigned>& ports,
                                                   const std::vector<unsigned>& queues) const {
    const auto& declared = function.declared;
    if (queues.empty())
        return Error{fmt::format("'{}' does not have this queue", declared.name),
                     {},
                     "its declaration names the 'queues' that it has",
                     ExitCode::usage};
    if (std::ranges::all_of(ports, [](unsigned ifindex) { return ifindex == 0; }))
        return Error{fmt::format("'{}' waits for {}, which is not there yet", declared.name,
                                 fmt::join(declared.ports, ", ")),
                     {},
                     "`ip link` shows which ports there are"};
    for (const auto& [id, connection] : all_)
        for (const auto& socket : connection.sockets)
            if (std::ranges::find(ports, socket.key.ifindex) != ports.end() &&
                std::ranges::find(queues, socket.key.queue) != queues.end())
                return Error{fmt::format("queue {} of {} has been handed to process {}", socket.key.queue,
                                         socket.port, connection.process),
                             {},
                             "it is free again when that process has ended"};
    return std::nullopt;
}

std::vector<unsigned> FunctionConnections::freePlaces(std::size_t count) const {
    std::set<unsigned> taken;
    for (const auto& [id, connection] : all_)
        for (const auto& socket : connection.sockets)
            taken.insert(socket.place);
    std::vector<unsigned> found;
    // The last one is for waiting, see Steering.
    for (unsigned place = 0; place + 1 < TNA_STEER_PLACES && found.size() < count; place++)
        if (!taken.contains(place))
            found.push_back(place);
    return found;
}

/// Nobody else's queue; functions that find none do without.
void FunctionConnections::addWayBack(Connection& connection, const functions::Declaration& declared,
                                     std::vector<deploy::QueueOfPort>& bound, deploy::XdpSockets& made) {
    if (wayBack_ == nullptr)
        return;
    std::set<unsigned> taken;
    for (const auto& [id, other] : all_)
        if (other.goesBack)
            taken.insert(other.backQueue);
    unsigned kept = 0;
    for (unsigned queue = 0; queue < backQueues && kept < mostKept; queue++) {
        if (taken.contains(queue))
            continue;
        const deploy::QueueOfPort back{backIfindex_, "the way back to Linux", queue, queue + 1, false};
        if (deploy::addXdpSocket(made, declared, back)) {
            connection.goesBack = true;
            connection.backQueue = queue;
            backUsers_[queue] = connection.user;
            bound.push_back(back);
            return;
        }
        if (const auto user = backUsers_.find(queue); user != backUsers_.end())
            kept += user->second == connection.user ? 1U : 0U;
    }
}

Result<HandedOver> FunctionConnections::open(const FunctionSet::Function& function, FunctionCaller caller,
                                             const model::Network& network,
                                             const deploy::Steering& steering) {
    const auto& declared = function.declared;
    auto queues = declared.queues;
    if (caller.queue != TNA_FUNCTION_ALL_QUEUES)
        std::erase_if(queues, [&](unsigned queue) { return std::cmp_not_equal(queue, caller.queue); });
    const auto ports = portsOf(declared, network);
    if (auto against = obstacle(function, ports, queues))
        return std::unexpected(std::move(*against));
    auto bound = placesToBind(declared, ports, queues);
    const auto places = freePlaces(bound.size());
    if (places.size() < bound.size())
        return fail("network functions have {} sockets, which are the most", TNA_STEER_PLACES - 1);

    Connection connection{declared.name, caller.user, caller.process};
    auto made = deploy::makeXdpSockets(declared, bound);
    if (!made)
        return std::unexpected(made.error());
    addWayBack(connection, declared, bound, *made);

    HandedOver handed{.id = ++lastId_};
    handed.answer = {.protocol = TNA_FUNCTION_PROTOCOL,
                     .sockets = static_cast<__u32>(bound.size()),
                     .ports = static_cast<__u32>(ports.size()),
                     .frames = declared.frames,
                     .frame_size = declared.frameSize};
    for (std::size_t i = 0; i < bound.size(); i++) {
        auto page = deploy::makeFunctionPage();
        if (!page)
            return std::unexpected(page.error());
        auto& part = handed.parts.emplace_back();
        const auto& queue = bound[i];
        const auto port = std::ranges::find(ports, queue.ifindex) - ports.begin();
        part.about = {.port = queue.receives ? static_cast<__u32>(port) : TNA_FUNCTION_BACK,
                      .queue = queue.queue,
                      .ifindex = queue.ifindex,
                      .zero_copy = made->sockets[i].zeroCopy};
        copyText(part.about.name, queue.receives ? queue.name : "linux");
        if (i == 0)
            part.descriptors.push_back(std::move(made->memory));
        part.descriptors.push_back(std::move(made->sockets[i].fd));
        part.descriptors.emplace_back(::fcntl(page->get(), F_DUPFD_CLOEXEC, 0));
        if (queue.receives)
            connection.sockets.push_back({{queue.ifindex, queue.queue},
                                          places[i],
                                          queue.name,
                                          made->sockets[i].zeroCopy,
                                          std::move(*page)});
    }
    const auto netns = thisNamespace();
    for (std::size_t i = 0; i < connection.sockets.size(); i++) {
        const auto& socket = connection.sockets[i];
        const auto& descriptors = handed.parts[i].descriptors;
        auto done =
            steering.connect(socket.key, {.place = socket.place, .function = function.number, .netns = netns},
                             descriptors[descriptors.size() - 2].get(), socket.page.get());
        if (done && i == 0 && connection.goesBack)
            done = wayBack_->allow(connection.backQueue + 1, ports);
        if (!done) {
            disconnect(connection, steering);
            return std::unexpected(done.error());
        }
    }
    connection.control = std::move(caller.control);
    all_.emplace(handed.id, std::move(connection));
    return handed;
}

void FunctionConnections::disconnect(const Connection& connection, const deploy::Steering& steering) const {
    for (const auto& socket : connection.sockets)
        steering.disconnect(socket.key, socket.place);
    if (connection.goesBack && wayBack_ != nullptr)
        wayBack_->forbid(connection.backQueue + 1);
    if (connection.control)
        ::shutdown(connection.control.get(), SHUT_RDWR);
}

void FunctionConnections::close(std::uint64_t id, const deploy::Steering& steering) {
    const auto it = all_.find(id);
    if (it == all_.end())
        return;
    disconnect(it->second, steering);
    all_.erase(it);
}

void FunctionConnections::end(const std::string& function, const deploy::Steering& steering) {
    std::erase_if(all_, [&](const auto& item) {
        if (item.second.function != function)
            return false;
        disconnect(item.second, steering);
        return true;
    });
}

void FunctionConnections::endOutdated(const FunctionSet::Function& function, const model::Network& network,
                                      const deploy::Steering& steering) {
    std::set<unsigned> there;
    for (const auto ifindex : portsOf(function.declared, network))
        if (ifindex != 0)
            there.insert(ifindex);
    const bool outdated = std::ranges::any_of(all_, [&](const auto& item) {
        std::set<unsigned> had;
        for (const auto& socket : item.second.sockets)
            had.insert(socket.key.ifindex);
        return item.second.function == function.declared.name && had != there;
    });
    if (outdated)
        end(function.declared.name, steering);
}

} // namespace tna::daemon
