// SPDX-License-Identifier: Apache-2.0
// What is judged steady is what packets meet: of a flow all pass, or none does.
#include <netinet/in.h> // before linux/in.h

#include "base/unique_fd.hpp"
#include "netns/rules/rules_fixture.hpp"
#include "support/conntrack.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <ostream>
#include <poll.h>
#include <set>
#include <sys/socket.h>

namespace tna::test {
namespace {

using model::RuleFamily;

/// One end of a flow of UDP, in the calling thread's namespace.
class End {
public:
    End(const char* own, std::uint16_t ownPort, const char* other, std::uint16_t otherPort)
        : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
        const auto from = addressOf(own, ownPort), to = addressOf(other, otherPort);
        EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from), 0);
        EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    }
    struct Fields {
        int ttl = 64;
        int tos = 0;
        std::size_t length = 100;
    };
    /// What is carried is never the same.
    void send(std::uint32_t number, const Fields& fields) const {
        (void)::setsockopt(socket_.get(), IPPROTO_IP, IP_TTL, &fields.ttl, sizeof fields.ttl);
        (void)::setsockopt(socket_.get(), IPPROTO_IP, IP_TOS, &fields.tos, sizeof fields.tos);
        std::vector<std::uint8_t> bytes(fields.length, static_cast<std::uint8_t>(number * 37));
        std::memcpy(bytes.data(), &number, sizeof number);
        // Once more, where the answer to an earlier one was an error.
        if (::send(socket_.get(), bytes.data(), bytes.size(), 0) < 0)
            (void)::send(socket_.get(), bytes.data(), bytes.size(), 0);
    }
    /// How many different ones have come when none has for a while.
    [[nodiscard]] std::size_t received() const {
        std::set<std::uint32_t> numbers;
        std::array<std::uint8_t, 2000> bytes{};
        constexpr int patience = 100;
        pollfd waiting{socket_.get(), POLLIN, 0};
        while (::poll(&waiting, 1, patience) > 0)
            if (::recv(socket_.get(), bytes.data(), bytes.size(), 0) >= 4) {
                std::uint32_t number = 0;
                std::memcpy(&number, bytes.data(), sizeof number);
                numbers.insert(number);
            }
        return numbers.size();
    }

private:
    static sockaddr_in addressOf(const char* address, std::uint16_t port) {
        sockaddr_in out{};
        out.sin_family = AF_INET;
        out.sin_port = htons(port);
        out.sin_addr.s_addr = ::inet_addr(address);
        return out;
    }
    UniqueFd socket_;
};

struct Case {
    const char* name;
    const char* policy;
    const char* forward;   ///< rules at forward
    const char* more = ""; ///< of the same table
    bool steady = true;
};
std::ostream& operator<<(std::ostream& out, const Case& one) {
    return out << one.name;
}

/// A router between two hosts, with a connection that is established in both directions.
class Packets : public Rules, public ::testing::WithParamInterface<Case> {
protected:
    static constexpr std::uint32_t count = 64;

    void SetUp() override {
        Rules::SetUp();
        if (IsSkipped())
            return;
        for (int i = 0; i < 2; ++i) {
            const auto& host = hosts_.at(i).name();
            must(fmt::format("ip link add r{} type veth peer name host netns {}", i, host));
            must(fmt::format("ip addr add 10.0.{}.1/24 dev r{}", i, i));
            must(fmt::format("ip link set r{} up", i));
            must(fmt::format("ip -n {} addr add 10.0.{}.2/24 dev host", host, i));
            must(fmt::format("ip -n {} link set host up", host));
            must(fmt::format("ip -n {} route add default via 10.0.{}.1", host, i));
        }
        sysctl("net.ipv4.ip_forward", "1");
        // Somebody wants to know connections, so that there are some.
        nft("table ip known { chain forward { type filter hook forward priority -1000; ct state new counter; "
            "} ; }");
        const NamespaceScope first(hosts_[0].enter());
        near_.emplace("10.0.0.2", 4000, "10.0.1.2", 5000);
        const NamespaceScope second(hosts_[1].enter());
        far_.emplace("10.0.1.2", 5000, "10.0.0.2", 4000);
    }

    /// All that packets may differ in, but for what the rules look at.
    static std::vector<End::Fields> variety(const std::set<std::string>& looksAt) {
        std::vector<End::Fields> all;
        for (std::uint32_t i = 0; i < count; ++i) {
            End::Fields fields;
            if (!looksAt.contains("TTL"))
                fields.ttl = static_cast<int>(10 + i);
            if (!looksAt.contains("DSCP and ECN"))
                fields.tos = static_cast<int>(i % 64 * 4);
            if (!looksAt.contains("length"))
                fields.length = 8 + i * 20;
            all.push_back(fields);
        }
        return all;
    }

    std::array<Namespace, 2> hosts_;
    std::optional<End> near_;
    std::optional<End> far_;
};

TEST_P(Packets, OfAFlowAllPassOrNoneWhereRulesAreSteady) {
    const auto& param = GetParam();
    nft(fmt::format("table ip t {{ {} chain f {{ type filter hook forward priority 0; policy {}; {} }} ; }}",
                    param.more, param.policy, param.forward));
    if (const int error = addConnection({}); error != 0)
        GTEST_SKIP() << "connections cannot be made by hand: " << std::strerror(error);
    const auto set = read();
    bool steady = true;
    std::set<std::string> looksAt;
    for (const auto hook : {NF_INET_PRE_ROUTING, NF_INET_FORWARD, NF_INET_POST_ROUTING}) {
        const auto one = judged(set, RuleFamily::ip, static_cast<std::uint32_t>(hook));
        steady &= one.steadyForUdp;
        looksAt.insert(one.looksAt.begin(), one.looksAt.end());
    }
    ASSERT_EQ(steady, param.steady);
    // The first packet of each direction may find the connection's mark as it was before.
    near_->send(count, {});
    far_->send(count, {});
    (void)near_->received(), (void)far_->received();
    const auto packets = variety(looksAt);
    for (std::uint32_t i = 0; i < count; ++i) {
        near_->send(i, packets[i]);
        far_->send(i, packets[i]);
    }
    const auto forth = far_->received(), back = near_->received();
    if (steady) {
        EXPECT_TRUE(forth == 0 || forth == count) << forth;
        EXPECT_TRUE(back == 0 || back == count) << back;
    } else {
        EXPECT_TRUE((forth > 0 && forth < count) || (back > 0 && back < count))
            << "is nothing in the way then?";
    }
}

const std::vector<Case> cases{
    {"EstablishedFirst", "drop", "ct state established accept; limit rate 5/second accept;"},
    {"OneDirection", "drop", "ip saddr 10.0.0.2 accept; limit rate 2/second log;"},
    {"ByState", "drop", "ct state vmap { established : jump a, related : accept, invalid : drop };",
     "chain a { ct direction original udp dport 5000 accept; } ;"},
    {"ByDscp", "accept", "ip dscp cs1 drop; ip dscp 0x3f counter;"},
    {"ByTtlAndLength", "drop", "ip ttl > 60 meta length 20-200 accept;"},
    {"ByLengthOfUdp", "drop", "udp length > 100 accept;"},
    {"BySet", "drop", "ip saddr . udp dport @s accept;",
     "set s { type ipv4_addr . inet_service; elements = { 10.0.0.2 . 5000 } } ;"},
    {"ByMap", "drop", "ip saddr vmap @m; limit rate 3/second log;",
     "chain a { accept; } ; map m { type ipv4_addr : verdict; elements = { 10.0.1.2 : goto a } } ;"},
    {"ByHash", "accept", "jhash ip saddr . udp sport mod 2 seed 0x1 0 drop;"},
    {"ByMark", "drop", "meta mark 7 accept;",
     "chain p { type filter hook prerouting priority 0; meta mark set ct mark; ct mark set 7; } ;"},
    {"ByDevice", "drop", "iifname r0 oifname \"r*\" accept; meta iifgroup 7 accept;"},
    {"ByRoute", "accept", "fib saddr . iif oif missing drop; fib daddr type local drop;"},
    {"ByPacketType", "drop", "meta pkttype host ip protocol udp accept;"},
    {"OfRejected", "accept", "limit rate 2/second log; reject;"},
    {"Limited", "drop", "limit rate 2/second burst 5 packets accept;", "", false},
    {"OneInThree", "accept", "numgen inc mod 3 0 drop;", "", false},
    {"UpToAQuota", "drop", "quota 10 kbytes accept;", "", false},
    {"ByWhatIsCarried", "accept", "@th,64,8 & 1 == 0 drop;", "", false}};

INSTANTIATE_TEST_SUITE_P(Rules, Packets, ::testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace tna::test
