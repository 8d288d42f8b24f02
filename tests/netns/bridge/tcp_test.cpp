// SPDX-License-Identifier: Apache-2.0
// TCP between two namespaces over accelerated ports, with all offloads as Linux sets them by default.
#include "bridge_fixture.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <random>
#include <sys/socket.h>
#include <thread>

namespace tna::test {
namespace {

constexpr std::size_t transferred = 4U << 20U;

std::vector<std::uint8_t> someBytes(unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(transferred);
    for (auto& byte : bytes)
        byte = static_cast<std::uint8_t>(random());
    return bytes;
}

sockaddr_in address(const char* ip) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(4000);
    ::inet_pton(AF_INET, ip, &address.sin_addr);
    return address;
}

UniqueFd tcpSocket() {
    UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const timeval patience{60, 0};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    return fd;
}

void sendAll(int fd, const std::vector<std::uint8_t>& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
        const auto sent = ::send(fd, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
        ASSERT_GT(sent, 0) << std::strerror(errno);
        at += static_cast<std::size_t>(sent);
    }
}

std::vector<std::uint8_t> receiveAll(int fd) {
    std::vector<std::uint8_t> bytes(transferred);
    std::size_t at = 0;
    while (at < bytes.size()) {
        const auto got = ::recv(fd, bytes.data() + at, bytes.size() - at, 0);
        if (got <= 0)
            break;
        at += static_cast<std::size_t>(got);
    }
    bytes.resize(at);
    return bytes;
}

class Tcp : public BridgeTest {
protected:
    /// A host with an address behind port p<number>, its network card with Linux's default settings.
    void host(unsigned number, Namespace& home) {
        const auto n = std::to_string(number);
        farPorts_.erase(number);
        must("ip link del p" + n);
        must("ip link add p" + n + " type veth peer name eth0 netns " + home.name());
        must("ip link set p" + n + " master br0 up");
        const auto inside = home.enter();
        must("ip addr add 10.0.0." + n + "/24 dev eth0");
        must("ip link set eth0 up");
    }
    void SetUp() override {
        BridgeTest::SetUp();
        if (IsSkipped())
            return;
        pinned_.reset();
        host(1, client_.emplace());
        host(2, server_.emplace());
    }
    /// Both ends send all the time; each gets what the other sent.
    void expectRightBytesBothWays() {
        UniqueFd listener, client;
        const auto here = address("10.0.0.2");
        {
            const auto inside = server_->enter();
            listener = tcpSocket();
            const int one = 1;
            ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
            ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&here), sizeof(here)), 0);
            ASSERT_EQ(::listen(listener.get(), 1), 0);
        }
        {
            const auto inside = client_->enter();
            client = tcpSocket();
        }
        ASSERT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&here), sizeof(here)), 0)
            << std::strerror(errno);
        const UniqueFd server{::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
        ASSERT_TRUE(server);
        const auto there = someBytes(1), back = someBytes(2);
        std::thread sendThere([&] { sendAll(client.get(), there); });
        std::thread sendBack([&] { sendAll(server.get(), back); });
        std::vector<std::uint8_t> gotBack;
        std::thread receiveBack([&] { gotBack = receiveAll(client.get()); });
        const auto gotThere = receiveAll(server.get());
        for (auto* thread : {&sendThere, &sendBack, &receiveBack})
            thread->join();
        EXPECT_TRUE(gotThere == there) << "got " << gotThere.size() << " bytes";
        EXPECT_TRUE(gotBack == back) << "got " << gotBack.size() << " bytes";
    }
    static void everywhere(const std::vector<Namespace*>& homes, const std::string& words) {
        for (const auto* home : homes) {
            const auto inside = home->enter();
            must(words);
        }
    }

    std::optional<Namespace> client_;
    std::optional<Namespace> server_;
};

TEST_F(Tcp, WithDefaultOffloadsArrivesWhole) {
    ASSERT_NO_FATAL_FAILURE(accelerate());
    expectRightBytesBothWays();
    for (const unsigned port : {1U, 2U}) {
        if (!atTcx()) {
            EXPECT_GT(counted(port).slow["unfinished-checksum"], 0U);
            continue;
        }
        const auto counters = (*controller_->port("p" + std::to_string(port)))["port"];
        EXPECT_GT(counters["fast_packets"], 0U);
        EXPECT_GT(counters["fast_bytes"].get<double>() / counters["fast_packets"].get<double>(), 1514)
            << "segments are cut at the end of the way only";
    }
}

TEST_F(Tcp, WithReceivingOffloadArrivesWhole) {
    everywhere({&*client_, &*server_}, "ethtool -K eth0 gro on");
    ASSERT_NO_FATAL_FAILURE(accelerate());
    expectRightBytesBothWays();
}

/// Senders that finish their checksums are served by the fast path.
TEST_F(Tcp, WithoutSendingOffloadTakesTheFastPathAndArrivesWhole) {
    everywhere({&*client_, &*server_}, "ethtool -K eth0 gro on tx off");
    ASSERT_NO_FATAL_FAILURE(accelerate());
    expectRightBytesBothWays();
    EXPECT_GT(counted(1).fast, 0U);
    EXPECT_GT(counted(2).fast, 0U);
}

TEST_F(Tcp, SurvivesThatTheFastPathComesAndGoes) {
    everywhere({&*client_, &*server_}, "ethtool -K eth0 gro on tx off");
    ASSERT_NO_FATAL_FAILURE(accelerate());
    std::atomic<bool> done = false;
    std::thread switcher([&] {
        for (bool paused = true; !done; paused = !paused) {
            EXPECT_TRUE(controller_->pause(std::nullopt, paused));
            ::poll(nullptr, 0, 20);
        }
    });
    expectRightBytesBothWays();
    done = true;
    switcher.join();
}

} // namespace
} // namespace tna::test
