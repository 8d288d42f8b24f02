// SPDX-License-Identifier: Apache-2.0
// Servers that are asked by HTTP whether they are there.
#include "netns/balancer/balancer_fixture.hpp"

#include <atomic>
#include <httplib.h>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

/// Says on /health what it is told to.
class Health {
public:
    Health(const Namespace& where, const std::string& ip, int port) {
        const auto inside = where.enter();
        server_.Get("/health", [this](const httplib::Request&, httplib::Response& response) {
            response.status = status;
        });
        EXPECT_TRUE(server_.bind_to_port(ip.c_str(), port));
        thread_ = std::thread([this] { server_.listen_after_bind(); });
        while (!server_.is_running())
            std::this_thread::yield();
    }
    ~Health() {
        server_.stop();
        thread_.join();
    }
    Health(const Health&) = delete;
    Health& operator=(const Health&) = delete;

    std::atomic<int> status = 200;

private:
    httplib::Server server_;
    std::thread thread_;
};

class BalancerHttp : public BalancerTest {
protected:
    [[nodiscard]] bool hasSaid(const std::string& words) const {
        return eventually([&] { return said().find(words) != std::string::npos; });
    }
};

TEST_F(BalancerHttp, ServersThatDoNotSay200AreDown) {
    startTnad();
    declare();
    Health one(*servers_, "10.0.1.11", 8081), two(*servers_, "10.0.1.12", 8081);
    configure(checkedService("check = { kind = \"http\", path = \"/health\", port = 8081, interval = 100, "
                             "timeout = 2000, rise = 2, fall = 2 }\n"));
    startBalancer();
    one.status = 503;
    EXPECT_TRUE(hasSaid("10.0.1.11:8080 is down: HTTP status 503")) << said();
    EXPECT_EQ(statistics()["services"][0]["backends"][1]["up"], true) << said();
    one.status = 200;
    EXPECT_TRUE(hasSaid("10.0.1.11:8080 is up")) << said();
}

TEST_F(BalancerHttp, ServersThatSpeakSomethingElseAreDown) {
    startTnad();
    declare();
    const Talker one(*servers_, "10.0.1.11", 8080);
    const Health two(*servers_, "10.0.1.12", 8080);
    configure(checkedService("check = { kind = \"http\", path = \"/no\", interval = 100, timeout = 2000, "
                             "rise = 2, fall = 2 }\n"));
    startBalancer();
    EXPECT_TRUE(hasSaid("10.0.1.11:8080 is down: what it answers is not HTTP")) << said();
    EXPECT_TRUE(hasSaid("10.0.1.12:8080 is down: HTTP status 404")) << said();
}

} // namespace
} // namespace tna::test
