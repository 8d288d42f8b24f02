// SPDX-License-Identifier: Apache-2.0
#include "bench/topology.hpp"

#include "base/file.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <sys/wait.h>

namespace tna::bench {

namespace {
const std::string prefix = "tnab-";

std::vector<std::string> split(const std::string& words) {
    std::istringstream stream{words};
    std::vector<std::string> list;
    for (std::string word; stream >> word;)
        list.push_back(word);
    return list;
}

/// Settings that some kernels lack (br_netfilter) are none to be set there.
void setIfThere(const std::string& path, const std::string& value) {
    if (std::filesystem::exists(path))
        (void)writeFile(path, value);
}

std::string stationsBatch(unsigned stations) {
    std::string batch;
    for (unsigned i = 0; i < stations; i++)
        batch += fmt::format("fdb add 02:00:00:00:{0:02x}:{1:02x} dev d1 master dynamic\n"
                             "fdb add 02:01:00:00:{0:02x}:{1:02x} dev d0 master dynamic\n",
                             i >> 8U, i & 255U);
    return batch;
}
} // namespace

Result<void> runProgram(const std::vector<std::string>& arguments) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0)
        return failErrno(errno, "cannot make a pipe");
    const pid_t child = ::fork();
    if (child < 0)
        return failErrno(errno, "cannot start {}", arguments.front());
    if (child == 0) {
        ::dup2(pipe[1], STDOUT_FILENO);
        ::dup2(pipe[1], STDERR_FILENO);
        ::close(pipe[0]);
        std::vector<char*> argv;
        for (const auto& argument : arguments)
            argv.push_back(const_cast<char*>(argument.c_str()));
        argv.push_back(nullptr);
        ::execvp(argv[0], argv.data());
        ::_exit(127);
    }
    ::close(pipe[1]);
    std::string output;
    std::array<char, 4096> buffer{};
    for (ssize_t n = 0; (n = ::read(pipe[0], buffer.data(), buffer.size())) > 0;)
        output.append(buffer.data(), static_cast<std::size_t>(n));
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return {};
    return std::unexpected(Error{fmt::format("'{}' failed", fmt::join(arguments, " ")), output, {}});
}

Result<BridgeTopology> BridgeTopology::make(unsigned queues, unsigned stations) {
    BridgeTopology topology;
    if (auto built = topology.build(queues, stations); !built)
        return std::unexpected(built.error());
    return topology;
}

Result<void> BridgeTopology::build(unsigned queues, unsigned stations) {
    static std::atomic<unsigned> count{0};
    const auto run = count++;
    for (const char* role : {"g", "d", "s"}) {
        const auto name = fmt::format("{}{}-{}{}", prefix, ::getpid(), role, run);
        if (auto made = runProgram({"ip", "netns", "add", name}); !made)
            return made;
        names_.push_back(name);
        auto handle = NetNamespace::named(name);
        if (!handle)
            return std::unexpected(handle.error());
        namespaces_.push_back(std::move(*handle));
        auto inside = NamespaceScope::enter(namespaces_.back());
        if (!inside)
            return std::unexpected(inside.error());
        setIfThere("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
        setIfThere("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
        for (const char* family : {"iptables", "ip6tables", "arptables"})
            setIfThere(fmt::format("/proc/sys/net/bridge/bridge-nf-call-{}", family), "0");
    }
    const auto q = fmt::format("numrxqueues {0} numtxqueues {0}", queues);
    const auto batch = fmt::format("/tmp/{}{}-{}.fdb", prefix, ::getpid(), run);
    if (auto written = writeFile(batch, stationsBatch(stations)); !written)
        return written;
    const std::vector<std::string> commands = {
        fmt::format("ip -n {0} link add g0 {2} type veth peer name d0 netns {1} {2}", names_[0], names_[1],
                    q),
        fmt::format("ip -n {0} link add d1 {2} type veth peer name s0 netns {1} {2}", names_[1], names_[2],
                    q),
        // A far end takes redirected frames only with NAPI.
        fmt::format("ip netns exec {} ethtool -K d0 gro on", names_[1]),
        fmt::format("ip netns exec {} ethtool -K d1 gro on", names_[1]),
        fmt::format("ip netns exec {} ethtool -K s0 gro on", names_[2]),
        fmt::format("ip -n {} link add br0 type bridge ageing_time 1000000 mcast_snooping 0", names_[1]),
        fmt::format("ip -n {} link set d0 master br0 up", names_[1]),
        fmt::format("ip -n {} link set d1 master br0 up", names_[1]),
        fmt::format("ip -n {} link set br0 up", names_[1]),
        fmt::format("ip -n {} link set g0 up", names_[0]),
        fmt::format("ip -n {} link set s0 up", names_[2]),
        fmt::format("bridge -n {} -batch {}", names_[1], batch),
    };
    Result<void> done;
    for (const auto& words : commands)
        if (done)
            done = runProgram(split(words));
    std::error_code ignored;
    std::filesystem::remove(batch, ignored);
    return done;
}

BridgeTopology::~BridgeTopology() {
    for (const auto& name : names_)
        (void)runProgram({"ip", "netns", "del", name});
}

unsigned removeLeftovers() {
    unsigned removed = 0;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/run/netns", none)) {
        const auto name = entry.path().filename().string();
        if (!name.starts_with(prefix))
            continue;
        const pid_t owner = std::atoi(name.c_str() + prefix.size());
        if (owner > 0 && ::kill(owner, 0) != 0 && runProgram({"ip", "netns", "del", name}))
            removed++;
    }
    return removed;
}

} // namespace tna::bench
