// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "netns/balancer/talkers.hpp"
#include "netns/daemon/function_router.hpp"

#include <gmock/gmock.h>

namespace tna::test {

/// A router between clients (198.51.100.2, 2001:db8::2) and two servers (10.0.1.11, 10.0.1.12, and
/// 2001:db8:1::11, ::12), and tna-balancer on it, as nobody, who has no capability. Services are at
/// 192.0.2.80 and 2001:db8:2::80, which no host has.
class BalancerTest : public FunctionRouter {
protected:
    BalancerTest() : FunctionRouter(TNA_BALANCER, "balancer") {}
    void SetUp() override;

    /// All that goes to services, and all that servers send.
    void declare() const;
    void configure(const std::string& text) const;
    /// The same while it runs, which it is told.
    void reconfigure(const std::string& text) const;
    void startBalancer();
    /// Without waiting until it is connected.
    void launchBalancer();
    /// Its statistics; it has ended.
    [[nodiscard]] nlohmann::json endBalancer();
    /// They are asked for while it runs.
    [[nodiscard]] nlohmann::json statistics() const;

    std::optional<Namespace> clients_, servers_;
};

inline constexpr const char* serviceAddress = "192.0.2.80";
inline constexpr const char* serviceAddress6 = "2001:db8:2::80";
/// Port 80, at port 8080 of both servers.
inline constexpr const char* oneService = R"(
[[service]]
address = "192.0.2.80"
port = 80
[[service.backend]]
address = "10.0.1.11"
port = 8080
[[service.backend]]
address = "10.0.1.12"
port = 8080
)";
/// What is said of its checks is put behind this, before the first [[service.backend]].
[[nodiscard]] std::string checkedService(const std::string& check);
inline constexpr const char* oftenChecked = "check = { interval = 100, timeout = 200, rise = 2, fall = 2 }\n";

} // namespace tna::test
