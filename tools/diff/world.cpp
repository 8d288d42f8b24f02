// SPDX-License-Identifier: Apache-2.0
#include "diff/world.hpp"

#include "base/file.hpp"
#include "diff/links.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <ifaddrs.h>
#include <linux/ipv6_route.h>
#include <regex>
#include <sched.h>
#include <span>
#include <sstream>
#include <thread>

namespace tna::diff {

namespace {
constexpr auto patience = std::chrono::seconds(5);
/// Addresses and groups of the link, which come when IPv6 likes, and neighbours that did not answer, which
/// the kernel forgets when it likes.
constexpr std::array passing{"fe80:", "ff0", "33:33:", " FAILED"};
/// How the addresses of ports begin.
constexpr std::array<std::uint8_t, 5> givenMac{2, 0, 0, 0, 0xff};

/// A namespace without a name: gone with the last one who holds it, whatever ends this program.
Result<NetNamespace> unnamed() {
    auto before = NetNamespace::current();
    if (!before)
        return std::unexpected(before.error());
    const auto back = NamespaceScope::enter(*before);
    if (!back)
        return std::unexpected(back.error());
    if (::unshare(CLONE_NEWNET) != 0)
        return std::unexpected(
            failErrno(errno, "cannot make a network namespace").error().withCode(ExitCode::noPermission));
    return NetNamespace::current();
}

std::string pathOf(const NetNamespace& space) {
    return fmt::format("/proc/{}/fd/{}", ::getpid(), space.fd());
}

/// Until the kernel has noticed what became of the links of a namespace, which it does in the background.
Result<std::vector<Link>> noticed(const NetNamespace& space) {
    const auto inside = NamespaceScope::enter(space);
    if (!inside)
        return std::unexpected(inside.error());
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (;;) {
        auto links = readLinks();
        if (!links || std::ranges::all_of(*links, &Link::noticed) ||
            std::chrono::steady_clock::now() > deadline)
            return links;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}
} // namespace

Result<FarSide> FarSide::make() {
    auto home = unnamed();
    if (!home)
        return std::unexpected(home.error());
    auto shell = Shell::start(*home, "far");
    if (!shell)
        return std::unexpected(shell.error());
    const auto quiet =
        shell->run("sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1");
    if (!quiet) // a kernel without IPv6 says no, which is as well
        return std::unexpected(quiet.error());
    if (auto done =
            shell->must("ip link add fence0 type veth peer name fence1 && ethtool -K fence1 gro on && "
                        "ip link set fence0 up && ip link set fence1 up");
        !done)
        return std::unexpected(done.error());
    const auto inside = NamespaceScope::enter(*home);
    if (!inside)
        return std::unexpected(inside.error());
    auto fence = Fence::make();
    if (!fence)
        return std::unexpected(fence.error());
    return FarSide(std::move(*home), std::move(*shell), std::move(*fence));
}

Result<World> World::make(const std::string& name, const FarSide& far,
                          const std::vector<std::string>& ports) {
    auto home = unnamed();
    if (!home)
        return std::unexpected(home.error());
    auto shell = Shell::start(*home, name);
    if (!shell)
        return std::unexpected(shell.error());
    const auto inside = NamespaceScope::enter(*home);
    auto ears = Ears::open();
    if (!inside || !ears)
        return std::unexpected(!inside ? inside.error() : ears.error());
    World world(far, std::move(*home), std::move(*shell), std::move(*ears), ports);
    if (auto done = world.plugIn(name); !done)
        return std::unexpected(done.error());
    return world;
}

Result<void> World::plugIn(const std::string& name) {
    // Those of a world that is gone may still be there for a moment.
    static std::atomic<unsigned> count{0};
    const auto number = count++;
    std::string near = "true", far = "true";
    for (std::size_t i = 0; i < ports_.size(); i++) {
        const auto end = fmt::format("{}{}-{}", name.substr(0, 1), number, i);
        near += fmt::format(
            " && ip link add name {} address 02:00:00:00:ff:{:02x} type veth peer name {} netns {}",
            ports_[i], 0x10 + i, end, pathOf(farSide_->home()));
        // Without NAPI on the far end, a port would not be a target of redirects.
        far += fmt::format(" && ip link set {0} mtu 9216 up && ethtool -K {0} gro on", end);
    }
    auto done = shell_.must(near);
    if (done)
        done = farSide_->shell().must(far);
    if (!done)
        return done;
    const auto inside = NamespaceScope::enter(farSide_->home());
    if (!inside)
        return std::unexpected(inside.error());
    for (std::size_t i = 0; i < ports_.size(); i++) {
        const auto end = fmt::format("{}{}-{}", name.substr(0, 1), number, i);
        auto wire = Wire::end(end);
        if (!wire)
            return std::unexpected(wire.error());
        far_.push_back({end, std::move(*wire)});
    }
    return awaitLinks();
}

Result<void> World::awaitLinks() {
    const auto near = noticed(home_);
    const auto far = near ? noticed(farSide_->home()) : near;
    if (!far)
        return std::unexpected(far.error());
    for (const auto& link : *near)
        own_.macs.insert(link.mac);
    takeAddresses();
    return {};
}

namespace {
/// What a line of /proc/net begins with.
std::array<std::uint8_t, 16> addressIn(const std::string& line) {
    std::array<std::uint8_t, 16> address{};
    for (std::size_t i = 0; i < address.size() && line.size() > 2 * i + 1; i++)
        std::from_chars(&line[2 * i], &line[2 * i + 2], address[i], 16);
    return address;
}
} // namespace

namespace {
/// Of all devices of the calling thread's namespace.
void takeAddresses4(std::set<Net4>& found) {
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0)
        return;
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> kept(all, ::freeifaddrs);
    for (const auto* one = all; one != nullptr; one = one->ifa_next)
        if (one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET)
            found.insert({ntohl(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr)});
}
} // namespace

void World::takeAddresses() {
    if (const auto inside = NamespaceScope::enter(home_); inside)
        takeAddresses4(own_.ipv4);
    const auto addresses = statistics("if_inet6");
    if (!addresses)
        return; // this kernel has no IPv6
    std::istringstream lines(*addresses);
    for (std::string line; std::getline(lines, line);) {
        auto address = addressIn(line);
        own_.ipv6.insert(address);
        // The one of all routers of the net, which this file does not name (RFC 4291, 2.6.1).
        std::fill(address.begin() + address.size() / 2, address.end(), 0);
        own_.ipv6.insert(address);
    }
}

/// A host answers from addresses, too, that only a route makes its own.
void World::takeLocalRoutes() {
    const auto routes = statistics("ipv6_route");
    if (!routes)
        return;
    std::istringstream lines(*routes);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string destination, word;
        std::uint32_t flags = 0;
        words >> destination;
        for (int skipped = 0; skipped < 7; skipped++) // lengths, source, next hop, metric, uses
            words >> word;
        words >> std::hex >> flags;
        if ((flags & RTF_LOCAL) != 0)
            own_.ipv6.insert(addressIn(destination));
    }
}

void World::takeLocalRoutes4() {
    const auto tables = statistics("fib_trie");
    if (!tables)
        return;
    std::istringstream lines(*tables);
    std::string leaf;
    for (std::string line; std::getline(lines, line);) { // "|-- ADDRESS", and "/LENGTH SCOPE TYPE" of each
        std::istringstream words(line);
        std::string first, second, type;
        words >> first >> second >> type;
        if (first == "|--")
            leaf = second;
        in_addr address{};
        if (!first.starts_with('/') || type != "LOCAL" || ::inet_pton(AF_INET, leaf.c_str(), &address) != 1)
            continue;
        const auto length = std::strtoul(first.c_str() + 1, nullptr, 10);
        const auto mask = length == 0 ? 0U : ~0U << (32 - std::min(length, 32UL));
        own_.ipv4.insert({ntohl(address.s_addr) & mask, mask});
    }
}

Result<std::string> World::run(const std::string& words) {
    auto said = shell_.run(words);
    if (said)
        if (auto done = awaitLinks(); !done)
            return std::unexpected(done.error());
    if (words.contains("local ")) {
        takeLocalRoutes();
        takeLocalRoutes4();
    }
    return said;
}

Result<void> World::setCarrier(const std::string& port, bool on) {
    const auto number = static_cast<std::size_t>(std::ranges::find(ports_, port) - ports_.begin());
    if (auto done =
            farSide_->shell().must(fmt::format("ip link set {} {}", far_[number].name, on ? "up" : "down"));
        !done)
        return done;
    return awaitLinks();
}

Result<void> World::setSocket(std::map<std::string, Wire>& all, const std::string& port,
                              Result<Wire> (*open)(const std::string&)) {
    all.erase(port);
    if (open == nullptr)
        return {};
    const auto inside = NamespaceScope::enter(home_);
    if (!inside)
        return std::unexpected(inside.error());
    auto socket = open(port);
    if (!socket)
        return std::unexpected(socket.error());
    all.emplace(port, std::move(*socket));
    return {};
}

Result<void> World::setCapture(const std::string& port, bool on) {
    return setSocket(captures_, port, on ? &Wire::tap : nullptr);
}

Result<void> World::setListener(const std::string& port, bool on) {
    return setSocket(listeners_, port, on ? &Wire::listener : nullptr);
}

Result<int> World::carryOut(const EntryOrder& order) const {
    const auto inside = NamespaceScope::enter(home_);
    if (!inside)
        return std::unexpected(inside.error());
    return diff::carryOut(order);
}

Result<Seen> World::look() {
    Seen seen;
    const auto take = [&](const std::string& place, const Wire& wire) -> Result<void> {
        auto frames = wire.drain();
        if (!frames)
            return std::unexpected(frames.error());
        for (const auto& frame : *frames)
            if (const auto whom = redirectedBy(frame, own_); whom)
                redirected_.insert(place + " to " + *whom);
        std::erase_if(*frames, [&](const Frame& frame) { return comesUnasked(frame, own_); });
        for (auto& frame : *frames)
            forgetChance(frame, own_);
        if (!frames->empty())
            seen.frames[place] = std::move(*frames);
        return {};
    };
    for (std::size_t i = 0; i < ports_.size(); i++)
        if (auto taken = take(ports_[i], far_[i].wire); !taken)
            return std::unexpected(taken.error());
    for (const auto& [port, tap] : captures_)
        if (auto taken = take("capture on " + port, tap); !taken)
            return std::unexpected(taken.error());
    for (const auto& [port, listener] : listeners_)
        if (auto taken = take("listener on " + port, listener); !taken)
            return std::unexpected(taken.error());
    seen.heard = ears_.heard(own_);
    seen.redirected = redirected_;
    return seen;
}

Result<std::string> World::memory() const {
    const auto said = shell_.run(
        "bridge fdb show; bridge vlan show; bridge mdb show; ip neigh show; ip route show table all; "
        "ip -6 route show table all; ip route show cache; cat /proc/net/nf_conntrack");
    if (!said)
        return said;
    // What counts down, and in which order tables are walked.
    static const std::regex times("expires [0-9]+sec|delta-time=[0-9]+|(ipv[46] +[0-9]+ [a-z0-9]+ +[0-9]+) "
                                  "[0-9]+");
    auto text = std::regex_replace(*said, times, "$1");
    // Devices that were given no address have one by chance: a bridge without ports, for one.
    const auto inside = NamespaceScope::enter(home_);
    const auto links = inside ? readLinks() : std::unexpected(inside.error());
    if (!links)
        return std::unexpected(links.error());
    for (const auto& link : *links)
        if (!std::ranges::equal(std::span(link.mac).first(givenMac.size()), givenMac))
            for (std::size_t at = 0; (at = text.find(diff::text(link.mac), at)) != std::string::npos;)
                text.replace(at, diff::text(link.mac).size(), "(its own)");
    std::istringstream lines(text);
    std::vector<std::string> sorted;
    for (std::string line; std::getline(lines, line);)
        if (std::ranges::none_of(passing, [&](const char* part) { return line.find(part) != line.npos; }))
            sorted.push_back(line);
    std::ranges::sort(sorted);
    std::string found;
    for (const auto& line : sorted)
        found += line + "\n";
    return found;
}

Result<std::string> World::statistics(const std::string& file) const {
    const auto inside = NamespaceScope::enter(home_);
    if (!inside)
        return std::unexpected(inside.error());
    return readFile("/proc/thread-self/net/" + file);
}

} // namespace tna::diff
