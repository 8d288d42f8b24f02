// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/containers.hpp"

#include "bench/results/document.hpp"
#include "bench/results/statistics.hpp"
#include "bench/testbed/own_namespace.hpp"
#include "bench/testbed/process.hpp"
#include "bench/testbed/rules.hpp"
#include "bench/testbed/tnad.hpp"
#include "bench/traffic/sockets.hpp"

#include "base/file.hpp"

#include <array>
#include <sched.h>
#include <utility>

namespace tna::bench {

namespace {
constexpr const char* configuration = "[ports]\nexclude_kinds = []\ntcx_kinds = [\"veth\"]\n"
                                      "[limits]\nconnections = 65536\n";
/// In the words of nft what iptables has behind Docker's; br0 is the network's bridge.
constexpr const char* dockerRules = R"(table ip filter {
    chain DOCKER { iifname != "br0" oifname "br0" tcp dport 80 counter accept; }
    chain DOCKER-ISOLATION-STAGE-2 { oifname "br0" counter drop; counter return; }
    chain DOCKER-ISOLATION-STAGE-1 { iifname "br0" oifname != "br0" counter jump DOCKER-ISOLATION-STAGE-2; counter return; }
    chain DOCKER-USER { counter return; }
    chain FORWARD {
        type filter hook forward priority filter; policy drop;
        counter jump DOCKER-USER
        counter jump DOCKER-ISOLATION-STAGE-1
        oifname "br0" ct state related,established counter accept
        oifname "br0" counter jump DOCKER
        iifname "br0" oifname != "br0" counter accept
        iifname "br0" oifname "br0" counter accept
        iifname { "h1", "h2" } counter accept
    }
}
table ip nat {
    chain DOCKER { iifname "br0" counter return; }
    chain PREROUTING { type nat hook prerouting priority dstnat; fib daddr type local counter jump DOCKER; }
    chain POSTROUTING { type nat hook postrouting priority srcnat; ip saddr 10.9.0.0/16 oifname != { "br0", "h1", "h2" } counter masquerade; }
}
)";
/// For what goes outside it is translated. What connection tracking calls invalid is not, which Docker lets
/// pass: without this rule of the operator's, translated TCP is Linux's.
constexpr const char* outsideRules = R"(table ip early {
    chain invalid { type filter hook prerouting priority -150; ct state invalid drop; }
}
table ip masquerading {
    chain POSTROUTING { type nat hook postrouting priority srcnat; ip saddr 10.9.1.0/24 oifname "h2" counter masquerade; }
}
)";
constexpr std::size_t smallRequest = 1;
constexpr std::size_t smallDatagram = 64;
constexpr std::size_t ports = 2;

/// Two containers behind the ports h1 and h2 of a host, their devices as Linux sets them by default.
class Containers {
public:
    static Result<Containers> make(const ContainersOptions& options) {
        auto host = OwnNamespace::make("host");
        auto client = OwnNamespace::make("client");
        auto server = OwnNamespace::make("server");
        for (const auto* made : {&host, &client, &server})
            if (!*made)
                return std::unexpected(made->error());
        Containers containers{std::move(*host), std::move(*client), std::move(*server)};
        if (auto built = containers.build(options); !built)
            return std::unexpected(built.error());
        if (options.docker)
            if (auto loaded = containers.loadDockers(options); !loaded)
                return std::unexpected(loaded.error());
        return containers;
    }
    [[nodiscard]] const NetNamespace& host() const { return host_.handle(); }
    [[nodiscard]] Talkers talkers() const { return {client_.handle(), server_.handle(), "10.9.2.2"}; }

private:
    Containers(OwnNamespace host, OwnNamespace client, OwnNamespace server)
        : host_(std::move(host)), client_(std::move(client)), server_(std::move(server)) {}

    /// Ports of a router have addresses of their own; others are the bridge's, which has one if one of the
    /// containers is outside.
    Result<void> build(const ContainersOptions& options) {
        std::string lines = "link add br0 type bridge mcast_snooping 0\nlink set br0 up\n";
        if (options.outside)
            lines += "address add 10.9.1.1/24 dev br0\n";
        for (const auto& [number, home] : {std::pair{1, &client_}, {2, &server_}}) {
            lines += fmt::format("link add h{0} type veth peer name eth0 netns {1}\nlink set h{0} up\n",
                                 number, home->name());
            lines += options.routed || (options.outside && number == 2)
                         ? fmt::format("address add 10.9.{0}.1/24 dev h{0}\n", number)
                         : fmt::format("link set h{} master br0\n", number);
        }
        if (auto done = runBatch("ip", host_.name(), lines); !done)
            return done;
        // As a card has one.
        if (options.outside)
            if (auto done = runBatch("tc", host_.name(), "qdisc add dev h2 root pfifo_fast\n"); !done)
                return done;
        const bool apart = options.routed || options.outside;
        for (const auto& [number, home] : {std::pair{1, &client_}, {2, &server_}}) {
            auto own =
                fmt::format("link set eth0 up\naddress add 10.9.{}.2/{} dev eth0\n", number, apart ? 24 : 16);
            if (apart)
                own += fmt::format("route add default via 10.9.{}.1\n", number);
            if (auto done = runBatch("ip", home->name(), own); !done)
                return done;
        }
        const auto inside = NamespaceScope::enter(host());
        if (!inside)
            return std::unexpected(inside.error());
        return writeFile("/proc/sys/net/ipv4/ip_forward", "1");
    }

    Result<void> loadDockers(const ContainersOptions& options) {
        const auto inside = NamespaceScope::enter(host());
        if (!inside)
            return std::unexpected(inside.error());
        if (auto loaded = loadRules(dockerRules); !loaded)
            return loaded;
        if (options.outside)
            if (auto loaded = loadRules(outsideRules); !loaded)
                return loaded;
        return options.routed ? Result<void>{}
                              : writeFile("/proc/sys/net/bridge/bridge-nf-call-iptables", "1");
    }

    OwnNamespace host_;
    OwnNamespace client_;
    OwnNamespace server_;
};

/// Both ends, and the kernel's work for them, share one processor: what is measured is how much work there
/// is, not how the processors share it.
class OnOneCpu {
public:
    OnOneCpu() {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<unsigned>(::sched_getcpu()), &one);
        ::sched_getaffinity(0, sizeof(before_), &before_);
        ::sched_setaffinity(0, sizeof(one), &one);
    }
    ~OnOneCpu() { ::sched_setaffinity(0, sizeof(before_), &before_); }
    OnOneCpu(const OnOneCpu&) = delete;
    OnOneCpu& operator=(const OnOneCpu&) = delete;

private:
    cpu_set_t before_{};
};

/// With rules, a flow of UDP is one that connection tracking is sure of: it has been answered for two
/// seconds.
Result<void> measure(const Talkers& talkers, const ContainersOptions& options, ContainersRates& rates) {
    const std::chrono::duration<double> time(options.seconds);
    const std::chrono::duration<double> before(options.docker ? 2.5 : 0);
    const auto requests = requestsPerSecond(talkers, smallRequest, time);
    if (!requests)
        return std::unexpected(requests.error());
    const auto bits = bitsPerSecond(talkers, time);
    if (!bits)
        return std::unexpected(bits.error());
    const auto datagrams = datagramsPerSecond(talkers, smallDatagram, time, before);
    if (!datagrams)
        return std::unexpected(datagrams.error());
    rates.requests.push_back(*requests);
    rates.bits.push_back(*bits);
    rates.datagrams.push_back(*datagrams);
    return {};
}

struct Seen {
    double fast = 0;
    double slow = 0;
};

Result<Seen> measureTna(const ContainersOptions& options, const Containers& containers,
                        ContainersRates& rates) {
    const auto inside = NamespaceScope::enter(containers.host());
    if (!inside)
        return std::unexpected(inside.error());
    auto tnad = Tnad::startAs(options.tnad, configuration);
    if (!tnad)
        return std::unexpected(tnad.error());
    if (auto ready = tnad->waitAccelerated(ports); !ready)
        return std::unexpected(ready.error());
    if (auto done = measure(containers.talkers(), options, rates); !done)
        return std::unexpected(done.error());
    const auto status = tnad->get("/v1/status");
    if (!status)
        return std::unexpected(status.error());
    Seen seen;
    for (const auto& port : (*status)["ports"]) {
        seen.fast += port["fast_packets"].get<double>();
        seen.slow += port["slow_packets"].get<double>();
    }
    return seen;
}

std::string line(const char* what, const char* unit, double scale, const std::vector<double>& linux,
                 const std::vector<double>& tna) {
    const auto shares = ratios(tna, linux);
    const auto share = summarise(shares);
    return fmt::format("{:<36}{:>10.2f}{:>10.2f}   {:.2f} ({:.2f} to {:.2f})  {}\n", what,
                       summarise(linux).median / scale, summarise(tna).median / scale, share.median,
                       share.lowerQuartile, share.upperQuartile, unit);
}

/// The three kinds of talk by the names that they have in files, with what was measured of them.
using Kinds = std::array<std::pair<const char*, const std::vector<double>*>, 3>;

Kinds kindsOf(const ContainersRates& rates) {
    return {{{"requests_per_second", &rates.requests},
             {"bits_per_second", &rates.bits},
             {"datagrams_per_second", &rates.datagrams}}};
}

nlohmann::json seriesDocument(const char* contender, const ContainersRates& rates,
                              const ContainersRates& linux) {
    nlohmann::json document, against, rounds = nlohmann::json::array();
    document["contender"] = contender;
    const auto base = kindsOf(linux);
    for (std::size_t kind = 0; const auto& [name, values] : kindsOf(rates)) {
        document[name] = summaryDocument(*values);
        against[name] = summaryDocument(ratios(*values, *base.at(kind++).second));
        for (std::size_t round = 0; round < values->size(); round++)
            rounds[round][name] = (*values)[round];
    }
    document["x_linux"] = std::move(against);
    document["rounds"] = std::move(rounds);
    return document;
}
} // namespace

/// Who is first changes from round to round, as what comes later may find the machine faster.
Result<ContainersResult> measureContainers(const ContainersOptions& options, Watcher& watcher) {
    const auto containers = Containers::make(options);
    if (!containers)
        return std::unexpected(containers.error());
    const OnOneCpu pinned;
    ContainersResult result;
    Seen all;
    ContainersRates none;
    if (auto done = measure(containers->talkers(), options, none); !done) // to know each other
        return std::unexpected(done.error());
    for (unsigned round = 0; round < options.rounds && !watcher.interrupted(); round++) {
        watcher.progress("containers", round, options.rounds);
        for (const bool plain : {round % 2 == 0, round % 2 != 0}) {
            if (plain) {
                if (auto done = measure(containers->talkers(), options, result.linux); !done)
                    return std::unexpected(done.error());
                continue;
            }
            const auto seen = measureTna(options, *containers, result.tna);
            if (!seen)
                return std::unexpected(seen.error());
            all.fast += seen->fast;
            all.slow += seen->slow;
        }
    }
    result.fastPart = all.fast + all.slow > 0 ? all.fast / (all.fast + all.slow) : 0;
    return result;
}

std::string renderContainers(const ContainersOptions& options, const ContainersResult& result) {
    constexpr double thousand = 1e3, billion = 1e9;
    std::string text = fmt::format("{}{}, both ends on one processor; medians of {} rounds of {} s\n\n",
                                   options.outside  ? "a container on a bridge, and a machine outside"
                                   : options.routed ? "two containers on ports of a router"
                                                    : "two containers on a bridge",
                                   options.docker ? " with Docker's rules" : "", result.tna.requests.size(),
                                   options.seconds);
    text += fmt::format("{:<36}{:>10}{:>10}   tna / linux\n", "", "linux", "tna");
    text += line("TCP, request and answer of 1 byte", "k/s", thousand, result.linux.requests,
                 result.tna.requests);
    text += line("TCP, one direction", "Gbit/s", billion, result.linux.bits, result.tna.bits);
    text += line("UDP, 64 bytes", "k/s", thousand, result.linux.datagrams, result.tna.datagrams);
    text += fmt::format("\nby the fast path: {:.2f} % of what came in\n", result.fastPart * 100);
    return text;
}

nlohmann::json containersDocument(const ContainersOptions& options, const nlohmann::json& machine,
                                  const ContainersResult& result) {
    return {{"version", 1},
            {"command", "containers"},
            {"machine", machine},
            {"options",
             {{"routed", options.routed},
              {"outside", options.outside},
              {"rules", options.docker ? "docker" : "none"},
              {"rounds", options.rounds},
              {"seconds", options.seconds}}},
            {"series",
             {seriesDocument("linux", result.linux, result.linux),
              seriesDocument("tna", result.tna, result.linux)}},
            {"fast_part", result.fastPart}};
}

} // namespace tna::bench
