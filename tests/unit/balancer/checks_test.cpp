// SPDX-License-Identifier: Apache-2.0
// Checks of servers on this host itself, more than may be open files at once.
#include "checks.hpp"
#include "frames.hpp"

#include <filesystem>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>

namespace tna::balancer::test {
namespace {

using Time = Checks::Time;
using std::chrono::milliseconds;

/// A port of this host, where nobody listens, or somebody who never says anything.
class Silent {
public:
    Silent() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof(address);
        EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
        EXPECT_EQ(::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
        port_ = ntohs(address.sin_port);
    }
    void listen() const { EXPECT_EQ(::listen(fd_.get(), 4096), 0); }
    [[nodiscard]] std::uint16_t port() const { return port_; }

private:
    UniqueFd fd_;
    std::uint16_t port_ = 0;
};

class CheckRuns : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0); }
    void TearDown() override { allowFiles(before_.rlim_cur); }
    void allowFiles(rlim_t most) const {
        const rlimit limit{most, before_.rlim_max};
        EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    }
    /// One service with so many backends, all checked by the same port.
    [[nodiscard]] std::vector<Service> servicesOf(unsigned backends, CheckSettings check) const {
        Service service;
        service.settings.place = {tcp, {ip("192.0.2.80"), 80}};
        service.settings.check = std::move(check);
        service.settings.check.port = server_.port();
        for (unsigned i = 0; i < backends; i++)
            service.backends.push_back(
                {.settings = {.endpoint = {ip("127.0.0.1"), static_cast<std::uint16_t>(1000 + i)}}});
        return {service};
    }
    static inline const CheckSettings quick{.kind = "tcp", .interval = 100, .fall = 1};
    static inline const CheckSettings asking{.kind = "http", .interval = 10, .timeout = 50, .fall = 1};
    /// Until all are down, or time is over; how many are.
    static std::size_t downOf(Checks& checks, std::size_t all) {
        std::set<std::size_t> down;
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (down.size() < all && std::chrono::steady_clock::now() < until) {
            for (const auto& change : checks.step(std::chrono::steady_clock::now()))
                if (!change.up)
                    down.insert(change.backend);
            std::this_thread::sleep_for(milliseconds(1));
        }
        return down.size();
    }
    /// At that time, and a moment later, when the answers are there.
    static std::size_t changesAt(Checks& checks, int time) {
        const auto begun = checks.step(Time{milliseconds(time)}).size();
        std::this_thread::sleep_for(milliseconds(20));
        return begun + checks.step(Time{milliseconds(time + 20)}).size();
    }
    static std::size_t openFiles() {
        return static_cast<std::size_t>(std::ranges::distance(
            std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator{}));
    }

    Silent server_;

private:
    rlimit before_{};
};

TEST_F(CheckRuns, MayBeMoreThanFiles) {
    Checks checks(servicesOf(200, quick), std::chrono::steady_clock::now());
    allowFiles(100);
    EXPECT_EQ(downOf(checks, 200), 200U);
    EXPECT_EQ(checks.obstacle(), "");
}

/// All others begin when these have ended.
TEST_F(CheckRuns, ThatWaitAreNotMoreThanHalfOfTheFiles) {
    server_.listen();
    const auto before = openFiles();
    allowFiles(100);
    Checks checks(servicesOf(120, asking), Time{});
    for (const auto now : {Time{milliseconds(10)}, Time{milliseconds(20)}})
        EXPECT_TRUE(checks.step(now).empty());
    EXPECT_EQ(openFiles(), before + 50);
    EXPECT_EQ(downOf(checks, 120), 120U);
    EXPECT_EQ(checks.obstacle(), "");
}

/// It says nothing about servers, and is told once.
TEST_F(CheckRuns, ThatAreRefusedByTheKernelAreTold) {
    server_.listen();
    Checks checks(servicesOf(20, asking), Time{});
    EXPECT_TRUE(checks.step(Time{milliseconds(10)}).empty());
    allowFiles(2);
    EXPECT_TRUE(checks.step(Time{milliseconds(100)}).empty());
    EXPECT_EQ(checks.obstacle(), "Invalid argument");
    EXPECT_TRUE(checks.step(Time{milliseconds(200)}).empty());
    EXPECT_EQ(checks.obstacle(), "");
    EXPECT_GT(checks.next(), Time{milliseconds(200)}) << "not at once again";
    EXPECT_TRUE(checks.step(Time{milliseconds(61'000)}).empty());
    EXPECT_EQ(checks.obstacle(), "Invalid argument");
}

TEST_F(CheckRuns, WithoutFilesSayNothingAboutServers) {
    Checks checks(servicesOf(20, quick), Time{});
    allowFiles(2);
    EXPECT_TRUE(checks.step(Time{milliseconds(100)}).empty());
    EXPECT_EQ(checks.obstacle(), "Too many open files");
    EXPECT_GT(checks.next(), Time{milliseconds(100)});
}

/// What has failed so far counts on, and what runs goes on.
TEST_F(CheckRuns, OutliveANewConfiguration) {
    auto often = quick;
    often.fall = 3;
    auto services = servicesOf(2, often);
    Checks checks(services, Time{});
    EXPECT_EQ(changesAt(checks, 100), 0U);
    EXPECT_EQ(changesAt(checks, 200), 0U);
    std::swap(services[0].backends[0], services[0].backends[1]);
    checks.follow(services, Time{milliseconds(250)});
    EXPECT_EQ(changesAt(checks, 260), 0U) << "not before its time";
    EXPECT_EQ(changesAt(checks, 350), 2U);
    services[0].settings.check.fall = 2;
    services[0].backends.at(0).up = services[0].backends.at(1).up = true;
    checks.follow(services, Time{milliseconds(400)});
    EXPECT_EQ(changesAt(checks, 500), 0U) << "what is checked otherwise begins anew";
    EXPECT_EQ(changesAt(checks, 600), 2U);
}

} // namespace
} // namespace tna::balancer::test
