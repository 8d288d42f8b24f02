// SPDX-License-Identifier: Apache-2.0
#include "daemon/function_connections.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/socket.h>

namespace tna::daemon {

namespace {
constexpr auto lately = std::chrono::seconds(1);

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

/// Of sockets that receive, by the place where each will be.
Result<void> takePages(FunctionParts& parts, const std::vector<unsigned>& places,
                       deploy::Steering& steering) {
    for (std::size_t i = 0; i < parts.bound.size(); i++) {
        if (!parts.bound[i].receives)
            continue;
        auto page = steering.takePage(places.at(i), std::move(parts.pages[i]));
        if (!page)
            return std::unexpected(page.error());
        parts.pages[i] = std::move(*page);
    }
    return {};
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
    if (queues.empty() && !declared.queues.empty())
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
        if (declared.queues.empty() && connection.function == declared.name)
            return Error{fmt::format("'{}' is process {}", declared.name, connection.process),
                         {},
                         "a function without 'queues' is one process"};
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

/// Those of the way back that no connection has.
std::vector<FunctionPlan::BackQueue> FunctionConnections::freeBackQueues(uid_t user) const {
    std::set<unsigned> taken;
    for (const auto& [id, other] : all_)
        if (other.goesBack)
            taken.insert(other.backQueue);
    std::vector<FunctionPlan::BackQueue> found;
    for (unsigned queue = 0; queue < backQueues; queue++)
        if (!taken.contains(queue)) {
            const auto had = backUsers_.find(queue);
            found.push_back({queue, had != backUsers_.end() && had->second == user});
        }
    return found;
}

Result<FunctionPlan> FunctionConnections::plan(const FunctionSet::Function& function, bool takesOn,
                                               const FunctionCaller& caller,
                                               const model::Network& network) const {
    const auto& declared = function.declared;
    auto queues = declared.queues;
    if (caller.queue != TNA_FUNCTION_ALL_QUEUES)
        std::erase_if(queues, [&](unsigned queue) { return std::cmp_not_equal(queue, caller.queue); });
    if (declared.queues.empty() && !takesOn)
        return std::unexpected(Error{
            fmt::format("'{}' has no 'queues', and waits for a function that gives frames on", declared.name),
            {},
            "one with 'given_back = \"next\"', a port in common, and a lower 'priority'"});
    FunctionPlan plan{declared, function.number, portsOf(declared, network), {}, backIfindex_, takesOn, {}};
    plan.givesBack = caller.givesBack || declared.givesOn;
    if (auto against = obstacle(function, plan.ports, queues))
        return std::unexpected(std::move(*against));
    plan.bound = placesToBind(declared, plan.ports, queues);
    if (const auto most = plan.bound.size() + 1; freePlaces(most).size() < most)
        return fail("network functions have {} sockets, which are the most", TNA_STEER_PLACES - 1);
    for (auto& place : plan.bound)
        place.wasLeft = wasLeft({place.ifindex, place.queue});
    plan.backQueues = freeBackQueues(caller.user);
    return plan;
}

Result<HandedOver> FunctionConnections::open(const FunctionPlan& plan, FunctionParts parts,
                                             FunctionCaller caller, deploy::Steering& steering) {
    Connection connection{plan.declared.name, caller.user, caller.process};
    connection.number = plan.number;
    connection.longest = plan.declared.longest();
    connection.ports = plan.ports;
    connection.takesOn = plan.takesOn;
    connection.presences = std::move(parts.presences);
    if (parts.backQueue) {
        connection.goesBack = true;
        connection.backQueue = *parts.backQueue;
        backUsers_[*parts.backQueue] = caller.user;
    }
    const auto places = freePlaces(parts.bound.size());
    if (auto taken = takePages(parts, places, steering); !taken)
        return std::unexpected(taken.error());
    HandedOver handed{.id = ++lastId_};
    handed.answer = {.protocol = TNA_FUNCTION_PROTOCOL,
                     .sockets = static_cast<__u32>(parts.bound.size()),
                     .ports = static_cast<__u32>(plan.ports.size()),
                     .frames = plan.declared.frames,
                     .frame_size = plan.declared.frameSize};
    for (std::size_t i = 0; i < parts.bound.size(); i++) {
        auto& part = handed.parts.emplace_back();
        const auto& queue = parts.bound[i];
        auto& socket = parts.made.sockets[i];
        const auto port = std::ranges::find(plan.ports, queue.ifindex) - plan.ports.begin();
        const bool isBack = parts.backQueue && i + 1 == parts.bound.size();
        part.about = {.port = isBack ? TNA_FUNCTION_BACK : static_cast<__u32>(port),
                      .queue = queue.queue,
                      .ifindex = queue.ifindex,
                      .zero_copy = socket.zeroCopy,
                      .receives = queue.receives};
        copyText(part.about.name, isBack ? "linux" : queue.name);
        if (i == 0)
            part.descriptors.push_back(std::move(parts.made.memory));
        part.descriptors.push_back(std::move(socket.fd));
        part.descriptors.emplace_back(::fcntl(parts.pages[i].get(), F_DUPFD_CLOEXEC, 0));
        if (queue.receives)
            connection.sockets.push_back({{queue.ifindex, queue.queue},
                                          places.at(i),
                                          isBack ? "functions" : queue.name,
                                          socket.zeroCopy,
                                          std::move(parts.pages[i])});
    }
    for (std::size_t i = 0; i < connection.sockets.size(); i++) {
        const auto& socket = connection.sockets[i];
        const auto& descriptors = handed.parts[i].descriptors;
        auto done = steering.connect(socket.key, {.place = socket.place, .function = plan.number},
                                     descriptors[descriptors.size() - 2].get());
        if (done && i == 0 && connection.goesBack)
            done = wayBack_->allow(connection.backQueue + 1, plan.number, plan.ports);
        if (!done) {
            disconnect(connection, steering);
            return std::unexpected(done.error());
        }
    }
    connection.control = std::move(caller.control);
    all_.emplace(handed.id, std::move(connection));
    placeTakers(plan.number, plan.ports);
    return handed;
}

bool FunctionConnections::wasLeft(const Queue& queue) const {
    const auto found = left_.find(queue);
    return found != left_.end() && Clock::now() - found->second < lately;
}

void FunctionConnections::disconnect(const Connection& connection, deploy::Steering& steering) {
    std::erase_if(left_, [](const auto& item) { return Clock::now() - item.second >= lately; });
    for (const auto& socket : connection.sockets) {
        steering.disconnect(socket.key, socket.place);
        left_[{socket.key.ifindex, socket.key.queue}] = Clock::now();
    }
    if (connection.goesBack && wayBack_ != nullptr)
        wayBack_->forbid(connection.backQueue + 1);
    if (connection.control)
        ::shutdown(connection.control.get(), SHUT_RDWR);
}

void FunctionConnections::close(std::uint64_t id, deploy::Steering& steering) {
    const auto it = all_.find(id);
    if (it == all_.end())
        return;
    disconnect(it->second, steering);
    const auto gone = std::move(it->second);
    all_.erase(it);
    placeTakers(gone.number, gone.ports);
}

void FunctionConnections::endWhere(const std::function<bool(const Connection&)>& ends,
                                   deploy::Steering& steering) {
    for (auto it = all_.begin(); it != all_.end();) {
        const auto& [id, connection] = *it++;
        if (ends(connection))
            close(id, steering);
    }
}

void FunctionConnections::end(const std::string& function, deploy::Steering& steering) {
    endWhere([&](const Connection& connection) { return connection.function == function; }, steering);
}

void FunctionConnections::endThoseThatGiveBack(deploy::Steering& steering) {
    endWhere([](const Connection& connection) { return connection.goesBack; }, steering);
}

unsigned FunctionConnections::longest(const std::string& function) const {
    unsigned longest = UINT_MAX;
    for (const auto& [id, connection] : all_)
        if (connection.function == function)
            longest = std::min(longest, connection.longest);
    return longest;
}

void FunctionConnections::placeTakers(unsigned number, const std::vector<unsigned>& ports) const {
    if (wayBack_ == nullptr)
        return;
    for (unsigned port = 0; port < ports.size(); port++) {
        std::optional<tna_back_taker> taker;
        for (const auto& [id, connection] : all_)
            if (!taker && connection.number == number && connection.takesOn && connection.goesBack)
                taker = {{backIfindex_, connection.backQueue}, port, 0};
        if (ports[port] != 0)
            wayBack_->setTaker({number, ports[port]}, taker);
    }
}

bool FunctionConnections::Connection::hasLostAPort() const {
    return std::ranges::any_of(presences, [](const auto& presence) { return !presence.lasts(); });
}

bool FunctionConnections::anyLostAPort() const {
    return std::ranges::any_of(all_, [](const auto& item) { return item.second.hasLostAPort(); });
}

void FunctionConnections::endOutdated(const FunctionSet::Function& function, bool takesOn,
                                      const model::Network& network, deploy::Steering& steering) {
    std::set<unsigned> there;
    for (const auto ifindex : portsOf(function.declared, network))
        if (ifindex != 0)
            there.insert(ifindex);
    const bool outdated = std::ranges::any_of(all_, [&](const auto& item) {
        std::set<unsigned> had(item.second.ports.begin(), item.second.ports.end());
        had.erase(0);
        return item.second.function == function.declared.name &&
               (had != there || item.second.hasLostAPort() || (takesOn && !item.second.takesOn));
    });
    if (outdated)
        end(function.declared.name, steering);
}

} // namespace tna::daemon
