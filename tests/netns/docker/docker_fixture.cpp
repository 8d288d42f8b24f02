// SPDX-License-Identifier: Apache-2.0
#include "docker_fixture.hpp"

#include "base/file.hpp"
#include "base/unique_fd.hpp"
#include "support/transfer.hpp"
#include "tnactl/client.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tna::test {

namespace {
const std::string unpacked = TNA_DOCKER_UNPACKED;

/// Below which the kernel keeps account of the containers.
std::string group() {
    return "tna-docker-" + std::to_string(::getpid());
}

/// An image whose only program is busybox, which is asked to wait.
void makeImage(const std::string& directory) {
    std::filesystem::create_directories(directory + "/image/bin");
    std::filesystem::copy_file("/bin/busybox", directory + "/image/bin/busybox");
    must("tar -C " + directory + "/image -cf " + directory + "/image.tar .");
}

struct Counts {
    double fast = 0;
    double slow = 0;
};

Counts sum(const nlohmann::json& ports) {
    Counts sum;
    for (const auto& port : ports) {
        sum.fast += port["fast_packets"].get<double>();
        sum.slow += port["slow_packets"].get<double>();
    }
    return sum;
}
} // namespace

void Docker::SetUp() {
    if (const auto why = cannotUseNamespaces(); !why.empty())
        GTEST_SKIP() << why;
    if (const auto got = command({TNA_DOCKER "/get-docker", unpacked}); got.exitCode == 77)
        GTEST_SKIP() << got.output;
    else
        ASSERT_EQ(got.exitCode, 0) << got.output;
    char pattern[] = "/tmp/tna-docker-XXXXXX";
    directory_ = ::mkdtemp(pattern);
    ASSERT_NO_FATAL_FAILURE(makeImage(directory_));
    host_.emplace();
    outside_.emplace();
    scope_.emplace(host_->enter());
    must("ip link set lo up");
    must("ip link add eth0 type veth peer name eth0 netns " + outside_->name());
    must("ip address add 198.51.100.1/24 dev eth0");
    must("ip link set eth0 up");
    must("tc qdisc add dev eth0 root pfifo_fast"); // as a card has one
    {
        const auto inside = outside_->enter();
        must("ip address add 198.51.100.2/24 dev eth0");
        must("ip link set eth0 up");
    }
    must("ip route add default via 198.51.100.2");
    startDocker();
    if (IsSkipped() || HasFatalFailure())
        return;
    docker({"import", directory_ + "/image.tar", "image"});
}

void Docker::TearDown() {
    tnad_.reset();
    docker_.reset();
    scope_.reset();
    if (directory_.empty())
        return;
    // What has been killed may be there for a moment yet.
    EXPECT_TRUE(eventually([&] {
        command(
            {"sh", "-c",
             "find /sys/fs/cgroup -depth -type d -path '*/" + group() + "*' -exec rmdir {} + 2>/dev/null"});
        return command({"sh", "-c", "find /sys/fs/cgroup -type d -name " + group()}).output.empty();
    }));
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

void Docker::startDocker() {
    docker_.emplace(std::vector<std::string>{"sh", "-c",
                                             "exec " TNA_DOCKER "/run-docker " + unpacked + " " + directory_ +
                                                 " " + group() + " >" + directory_ + "/log 2>&1"});
    const bool there = eventually(
        [&] {
            return docker_->hasEnded() || command({unpacked + "/usr/bin/docker", "-H",
                                                   "unix://" + directory_ + "/docker.sock", "info"})
                                                  .exitCode == 0;
        },
        std::chrono::seconds(60));
    if (!there || docker_->hasEnded()) {
        const auto log = readFile(directory_ + "/log");
        GTEST_SKIP() << "Docker does not start here: "
                     << (log ? log->substr(log->size() > 600 ? log->size() - 600 : 0) : "");
    }
}

void Docker::stopDocker() {
    command({"sh", "-c", "pkill -TERM -P " + std::to_string(docker_->id())});
    EXPECT_TRUE(eventually([&] { return docker_->hasEnded(); }));
    docker_.reset();
}

std::string Docker::docker(const std::vector<std::string>& words) {
    std::vector<std::string> all{unpacked + "/usr/bin/docker", "-H", "unix://" + directory_ + "/docker.sock"};
    all.insert(all.end(), words.begin(), words.end());
    const auto done = command(all);
    EXPECT_EQ(done.exitCode, 0) << words.front() << ": " << done.output;
    auto said = done.output;
    while (said.ends_with('\n'))
        said.pop_back();
    return said;
}

Docker::Container Docker::run(const std::string& name, const std::vector<std::string>& options) {
    std::vector<std::string> words{"run", "-d", "--stop-signal", "KILL", "--name", name};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"image", "/bin/busybox", "sleep", "100000"});
    docker(words);
    return running(name);
}

Docker::Container Docker::running(const std::string& name) {
    const auto told = docker(
        {"inspect", "-f",
         "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}} {{.NetworkSettings.SandboxKey}}", name});
    const auto space = told.find(' ');
    const auto file = std::filesystem::path(told.substr(space + 1)).filename().string();
    return {told.substr(0, space), std::make_unique<Namespace>("/proc/" + std::to_string(docker_->id()) +
                                                               "/root" + directory_ + "/run/netns/" + file)};
}

nlohmann::json Docker::ports() const {
    const auto status = ctl::Client(directory_ + "/sock").get("/v1/status");
    return status ? (*status)["ports"] : nlohmann::json::array();
}

bool Docker::accelerated(unsigned containers) const {
    return eventually([&] {
        const auto all = ports();
        return all.size() == containers + 1 &&
               std::ranges::all_of(all, [](const auto& port) { return port["state"] == "accelerated"; });
    });
}

void Docker::accelerate(unsigned containers) {
    ASSERT_TRUE(writeFile(directory_ + "/conf", "[ports]\ntcx_kinds = [\"veth\"]\n"));
    tnad_.emplace(std::vector<std::string>{TNAD, "--config", directory_ + "/conf", "--socket",
                                           directory_ + "/sock", "--log-level", "off"});
    if (!accelerated(containers))
        GTEST_SKIP() << "ports are not accelerated at tcx here: " << ports().dump();
}

void Docker::expectFast(const Namespace& clients, const Namespace& servers, const std::string& ip,
                        const std::string& knownAs) {
    constexpr unsigned enough = 300;
    unsigned rounds = 0;
    auto last = sum(ports());
    std::optional<Counts> begin;
    double share = 0;
    transferBothWays(
        clients, servers, ip,
        [&] {
            const auto now = sum(ports());
            if (!begin && now.fast - last.fast >= 2)
                begin = now;
            last = now;
            if (!begin || ++rounds < enough)
                return false;
            share = (now.fast - begin->fast) / (now.fast + now.slow - begin->fast - begin->slow);
            return true;
        },
        knownAs);
    EXPECT_GT(share, 0.95);
}

bool Docker::reaches(const Namespace& from, const std::string& ip) {
    const auto inside = from.enter();
    const UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(9);
    ::inet_pton(AF_INET, ip.c_str(), &to.sin_addr);
    ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
    pollfd one{.fd = fd.get(), .events = POLLOUT, .revents = 0};
    int error = 0;
    socklen_t size = sizeof error;
    // Whoever is there refuses.
    return ::poll(&one, 1, 1000) == 1 && ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 &&
           error == ECONNREFUSED;
}

} // namespace tna::test
