// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/tcp_check.hpp"

#include "bench/testbed/frame.hpp"
#include "bench/testbed/process.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <vector>

namespace tna::bench {

namespace {
using Clock = std::chrono::steady_clock;
/// Longer than it takes Linux to send a lost segment again, twice.
constexpr auto patience = std::chrono::milliseconds(3500);
/// Several of the largest segments that a sender leaves to its device.
constexpr std::size_t amount = 256U * 1024U;

/// One of the two hosts.
struct Host {
    const NetNamespace& where;
    const std::string& name;
    const char* device;
    std::string address;
};

sockaddr_storage socketAddress(const std::string& text, socklen_t& size) {
    sockaddr_storage storage{};
    if (auto* six = reinterpret_cast<sockaddr_in6*>(&storage);
        ::inet_pton(AF_INET6, text.c_str(), &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        size = sizeof(*six);
        return storage;
    }
    auto* four = reinterpret_cast<sockaddr_in*>(&storage);
    four->sin_family = AF_INET;
    ::inet_pton(AF_INET, text.c_str(), &four->sin_addr);
    size = sizeof(*four);
    return storage;
}

Result<UniqueFd> socketIn(const NetNamespace& where, int family) {
    const auto inside = NamespaceScope::enter(where);
    if (!inside)
        return std::unexpected(inside.error());
    UniqueFd fd{::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd)
        return failErrno(errno, "cannot make a TCP socket");
    return fd;
}

/// Both ends of one connection, driven by one thread.
class Connection {
public:
    Connection() : data_(amount) {
        std::ranges::generate(data_, [n = 0U]() mutable { return static_cast<char>(n++ * 31U >> 3U); });
    }

    Result<void> open(const Host& from, const Host& to) {
        socklen_t size = 0;
        auto address = socketAddress(to.address, size);
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        auto listener = socketIn(to.where, address.ss_family);
        auto client = socketIn(from.where, address.ss_family);
        if (!listener || !client)
            return std::unexpected(listener ? client.error() : listener.error());
        listener_ = std::move(*listener);
        client_ = std::move(*client);
        if (::bind(listener_.get(), generic, size) != 0 || ::listen(listener_.get(), 1) != 0 ||
            ::getsockname(listener_.get(), generic, &size) != 0)
            return failErrno(errno, "cannot listen on {}", to.address);
        if (::connect(client_.get(), generic, size) != 0 && errno != EINPROGRESS)
            return failErrno(errno, "cannot connect to {}", to.address);
        return {};
    }

    /// Whether all arrives at the far end and comes back, unchanged.
    bool carries() {
        for (const auto deadline = Clock::now() + patience; Clock::now() < deadline;) {
            if (returned_.size() >= amount)
                return returned_ == data_;
            if (!server_)
                server_.reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
            const bool moved[] = {push(client_, data_, sent_), pull(server_, arrived_),
                                  push(server_, arrived_, echoed_), pull(client_, returned_)};
            if (std::ranges::find(moved, true) == std::end(moved))
                wait();
        }
        return false;
    }

private:
    static bool push(const UniqueFd& to, const std::vector<char>& data, std::size_t& done) {
        if (!to || done >= data.size())
            return false;
        const auto count = ::send(to.get(), data.data() + done, data.size() - done, MSG_NOSIGNAL);
        done += count > 0 ? static_cast<std::size_t>(count) : 0;
        return count > 0;
    }
    static bool pull(const UniqueFd& from, std::vector<char>& data) {
        std::array<char, 16384> buffer{};
        const auto count = from ? ::recv(from.get(), buffer.data(), buffer.size(), 0) : 0;
        if (count > 0)
            data.insert(data.end(), buffer.begin(), buffer.begin() + count);
        return count > 0;
    }
    void wait() {
        std::array<pollfd, 3> ends{pollfd{listener_.get(), POLLIN, 0}, pollfd{client_.get(), POLLIN, 0},
                                   pollfd{server_.get(), POLLIN, 0}};
        ::poll(ends.data(), ends.size(), 5);
    }

    UniqueFd listener_;
    UniqueFd client_;
    UniqueFd server_;
    std::vector<char> data_;
    std::vector<char> arrived_;
    std::vector<char> returned_;
    std::size_t sent_ = 0;
    std::size_t echoed_ = 0;
};

/// The hosts' addresses, for as long as the object lives.
class Hosts {
public:
    Hosts(const Topology& topology, Scenario scenario)
        : generator_{topology.generator(), topology.generatorName(), "g0", addressOf(scenario, 1)},
          sink_{topology.sink(), topology.sinkName(), "s0", addressOf(scenario, 2)}, scenario_(scenario) {}
    Hosts(const Hosts&) = delete;
    Hosts& operator=(const Hosts&) = delete;
    ~Hosts() {
        for (const auto* host : {&generator_, &sink_}) {
            if (usesIpv6(scenario_)) [[maybe_unused]]
                const auto off = setIpv6(*host, false);
            [[maybe_unused]] const auto flushed =
                runCommand(fmt::format("ip -n {} address flush dev {}", host->name, host->device));
        }
    }

    Result<void> configure() const {
        for (const bool isGenerator : {true, false}) {
            const auto& host = isGenerator ? generator_ : sink_;
            if (usesIpv6(scenario_))
                if (auto on = setIpv6(host, true); !on)
                    return on;
            if (auto set = runBatch("ip", host.name, lines(host, isGenerator)); !set)
                return set;
        }
        return {};
    }

    [[nodiscard]] Result<bool> connect() const {
        Connection connection;
        if (auto opened = connection.open(generator_, sink_); !opened)
            return std::unexpected(opened.error());
        return connection.carries();
    }

    [[nodiscard]] Result<void> offload(const char* state) const {
        for (const auto* host : {&generator_, &sink_})
            if (auto set = runCommand(fmt::format("ip netns exec {0} ethtool -K {1} tx {2} tso {2} gso {2}",
                                                  host->name, host->device, state));
                !set)
                return set;
        return {};
    }

private:
    static std::string addressOf(Scenario scenario, unsigned side) {
        if (usesIpv6(scenario))
            return fmt::format("fd00:{}::2", side);
        return scenario == Scenario::bridge ? fmt::format("10.3.0.{}", side) : fmt::format("10.{}.0.2", side);
    }
    static Result<void> setIpv6(const Host& host, bool on) {
        return runProgram({"ip", "netns", "exec", host.name, "sysctl", "-q", "-w",
                           fmt::format("net.ipv6.conf.{}.disable_ipv6={}", host.device, on ? 0 : 1)});
    }
    /// The far end's MAC address is known: who has it is not asked through the device under test.
    [[nodiscard]] std::string lines(const Host& host, bool isGenerator) const {
        const auto& other = isGenerator ? sink_ : generator_;
        const unsigned side = isGenerator ? 1 : 2;
        if (scenario_ == Scenario::bridge)
            return fmt::format("address add {}/24 dev {}\nneighbour replace {} lladdr {} dev {}\n",
                               host.address, host.device, other.address, isGenerator ? sinkMac : generatorMac,
                               host.device);
        const bool six = usesIpv6(scenario_);
        const auto gateway = six ? fmt::format("fd00:{}::1", side) : fmt::format("10.{}.0.1", side);
        return fmt::format("address add {0}/{1} dev {2}{3}\nneighbour replace {4} lladdr {5} dev {2}\n"
                           "route add {6} via {4}\n",
                           host.address, six ? 64 : 24, host.device, six ? " nodad" : "", gateway,
                           isGenerator ? ingressMac : egressMac, other.address);
    }

    Host generator_;
    Host sink_;
    Scenario scenario_;
};
} // namespace

const char* nameOf(Tcp tcp) {
    switch (tcp) {
    case Tcp::works:
        return "yes";
    case Tcp::withoutOffloads:
        return "tx off";
    case Tcp::fails:
        return "no";
    case Tcp::notTried:
        break;
    }
    return "-";
}

Result<Tcp> tryTcp(const Topology& topology, const Setup& setup) {
    // The hosts send untagged frames.
    if (setup.vlanFiltering)
        return Tcp::notTried;
    const Hosts hosts{topology, setup.scenario};
    if (auto configured = hosts.configure(); !configured)
        return std::unexpected(configured.error());
    auto works = hosts.connect();
    if (!works)
        return std::unexpected(works.error());
    if (*works)
        return Tcp::works;
    if (auto off = hosts.offload("off"); !off)
        return std::unexpected(off.error());
    works = hosts.connect();
    if (auto on = hosts.offload("on"); !on)
        return std::unexpected(on.error());
    if (!works)
        return std::unexpected(works.error());
    return *works ? Tcp::withoutOffloads : Tcp::fails;
}

} // namespace tna::bench
