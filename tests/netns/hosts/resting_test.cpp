// SPDX-License-Identifier: Apache-2.0
// A container that talks to its host: there is nothing to forward.
#include "host_fixture.hpp"

#include "tnactl/client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

class HostsOwn : public Host {
protected:
    void SetUp() override {
        Host::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        makeBridge();
        talker_ = attach("talker", "br0", "10.7.0.2", "10.7.0.1");
        other_ = attach("other", "br0", "10.7.0.3", "10.7.0.1");
    }
    void TearDown() override {
        talker_.inside.reset();
        other_.inside.reset();
        Host::TearDown();
    }
    [[nodiscard]] nlohmann::json port(const std::string& name) const {
        for (const auto& port : ports())
            if (port["name"] == name)
                return port;
        return {};
    }
    [[nodiscard]] bool rests(const std::string& name) const {
        return port(name).dump().contains("could be forwarded");
    }

    Guest talker_;
    Guest other_;
};

/// Datagrams to the host from one namespace.
class Talker {
public:
    explicit Talker(const Namespace& from) {
        const auto inside = from.enter();
        fd_ = UniqueFd{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
        to_.sin_family = AF_INET;
        to_.sin_port = htons(9);
        ::inet_pton(AF_INET, "10.7.0.1", &to_.sin_addr);
    }
    void say(unsigned times) const {
        for (unsigned i = 0; i < times; i++)
            (void)::sendto(fd_.get(), "a", 1, 0, reinterpret_cast<const sockaddr*>(&to_), sizeof to_);
    }

private:
    UniqueFd fd_;
    sockaddr_in to_{};
};

TEST_F(HostsOwn, PortOfAContainerThatTalksToItRests) {
    ASSERT_NO_FATAL_FAILURE(accelerate(2));
    if (IsSkipped())
        return;
    const UniqueFd listener{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(9);
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    const Talker talker(*talker_.inside);
    EXPECT_TRUE(eventually(
        [&] {
            talker.say(500);
            return rests("talker");
        },
        std::chrono::seconds(120)))
        << port("talker").dump();
    EXPECT_EQ(port("talker")["state"], "linux");
    EXPECT_EQ(port("other")["state"], "accelerated") << "it has said nothing";
    EXPECT_TRUE(reaches(*talker_.inside, other_.address));
    EXPECT_TRUE(reaches(*other_.inside, talker_.address));
    ASSERT_TRUE(ctl::Client(directory_ + "/sock").post("/v1/resume", {{"port", "talker"}}));
    EXPECT_TRUE(accelerated(2)) << ports().dump();
}

} // namespace
} // namespace tna::test
