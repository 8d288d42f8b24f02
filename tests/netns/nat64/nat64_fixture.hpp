// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "netns/daemon/function_router.hpp"

#include <gmock/gmock.h>

namespace tna::test {

/// A router between a client that has IPv6 only (2001:db8::2) and a server that has IPv4 only (192.0.2.33),
/// and tna-nat64 on it, as nobody, who has no capability.
class Nat64Test : public FunctionRouter {
protected:
    Nat64Test() : FunctionRouter(TNA_NAT64, "nat64") {}
    void SetUp() override;
    void TearDown() override;

    /// A pair of veths: what Linux routes into n64 comes out at n64p, and the other way round.
    void makeDevice();
    /// Its statistics; it has ended.
    [[nodiscard]] nlohmann::json endTranslator();

    [[nodiscard]] CommandResult inClient(const std::string& words) const;
    [[nodiscard]] CommandResult inServer(const std::string& words) const;
    /// The client sends to the server's UDP port, and gets it back; whom the server has got it from.
    [[nodiscard]] std::string askServer(std::size_t bytes = 20, bool fragmentable = false);
    /// The same until there is an answer.
    [[nodiscard]] std::string askServerUntilAnswered();

    std::optional<Namespace> client_, server_;
    int asking_ = -1; ///< the client's socket
};

inline constexpr const char* serverInIpv6 = "64:ff9b::c000:221";
inline constexpr const char* deviceFunction = R"(
users = ["nobody"]
ports = ["n64p"]
otherwise = "drop"
[[rule]]
)";

} // namespace tna::test
