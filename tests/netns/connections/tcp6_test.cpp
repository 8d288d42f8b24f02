// SPDX-License-Identifier: Apache-2.0
// Connections of TCP over IPv6, whose ends lie elsewhere than those of IPv4.
#include "route_fixture.hpp"
#include "tcp_fixture.hpp"

namespace tna::test {
namespace {

class Tcp6 : public Route6Test {
protected:
    void SetUp() override {
        Route6Test::SetUp();
        if (IsSkipped())
            return;
        config_.kernel.refresh = 1U << 30U; // none need be seen by Linux while a test runs
        config_.limits.connections = 1024;
        must("nft table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
             " ct state invalid drop; ct state established accept; tcp dport 5000 ct state new accept; }; }");
        accelerate();
        if (IsSkipped())
            return;
        rulesAreKnown();
        pass(0, syn);
        pass(1, syn | ack);
        pass(0, ack);
    }
    [[nodiscard]] Frame frame(unsigned host, std::uint8_t flags, std::size_t payload = 0,
                              std::uint32_t ahead = 0, unsigned headers = 0) const {
        constexpr std::size_t tcp = 54;
        const std::string ends[] = {"fd00::2", "fd00:0:0:1::2"};
        auto made = ipv6Frame(
            portMac(host), station(host + 1),
            {.from = ends[host], .to = ends[1 - host], .next = IPPROTO_TCP, .payload = 20 + payload});
        const auto put = [&](std::size_t at, std::uint32_t value, unsigned size) {
            for (unsigned i = 0; i < size; i++)
                made.bytes.at(tcp + at + i) = static_cast<std::uint8_t>(value >> 8U * (size - 1 - i));
        };
        put(0, host == 0 ? 4000 : 5000, 2);
        put(2, host == 0 ? 5000 : 4000, 2);
        put(4, sent_[host] + ahead, 4);
        put(8, (flags & ack) != 0 ? sent_[1 - host] : 0, 4);
        put(12, 0x5000U | flags, 2);
        put(14, 10000, 2);
        put(16, 0, 4);
        std::vector<std::uint8_t> summed(made.bytes.begin() + 22, made.bytes.begin() + tcp);
        summed.insert(summed.end(), {0, 0, static_cast<std::uint8_t>((20 + payload) >> 8U),
                                     static_cast<std::uint8_t>(20 + payload), 0, 0, 0, IPPROTO_TCP});
        summed.insert(summed.end(), made.bytes.begin() + tcp, made.bytes.end());
        put(16, internetChecksum(summed.data(), summed.size()), 2);
        // Destination options, each with padding.
        for (unsigned i = 0; i < headers; i++) {
            const std::array<std::uint8_t, 8> header{made.bytes.at(20), 0, 1, 4, 0, 0, 0, 0};
            made.bytes.at(20) = IPPROTO_DSTOPTS;
            made.bytes.insert(made.bytes.begin() + tcp, header.begin(), header.end());
        }
        const auto length = made.bytes.size() - tcp;
        made.bytes.at(18) = static_cast<std::uint8_t>(length >> 8U);
        made.bytes.at(19) = static_cast<std::uint8_t>(length);
        return made;
    }
    Path pass(unsigned host, std::uint8_t flags, std::size_t payload = 0) {
        const auto made = frame(host, flags, payload);
        const auto got = treat(made, host);
        EXPECT_EQ(got.out, routedTo(made, 1 - host));
        sent_[host] += static_cast<std::uint32_t>(payload + ((flags & (syn | fin)) != 0 ? 1 : 0));
        return got.path;
    }
    void becomesFast() {
        ASSERT_TRUE(eventually([&] {
            pump();
            bool fast = true;
            for (const unsigned host : {0U, 1U}) {
                fast &= pass(host, psh | ack, 50) == fastPath();
                fast &= pass(1 - host, ack) == fastPath();
            }
            return fast || HasFailure();
        }));
    }

    std::uint32_t sent_[2] = {1000, 900000};
};

TEST_F(Tcp6, IsNotEndedByWhatIsOutsideOfItsWindows) {
    for (const std::uint8_t flags : {rst, fin})
        for (const unsigned host : {0U, 1U}) {
            SCOPED_TRACE(testing::Message() << "flags " << int{flags} << " from host " << host);
            becomesFast();
            (void)treat(frame(0, syn, 0, 987654321), 0);
            EXPECT_EQ(treat(frame(host, flags, 0, 123456789), host).out, Arrivals{});
            EXPECT_NE(command({"conntrack", "-f", "ipv6", "-L"}).output.find("ESTABLISHED"),
                      std::string::npos);
        }
    becomesFast();
}

/// Connection tracking passes over as many of them as there are.
TEST_F(Tcp6, IsNotEndedByWhatIsOutsideOfItsWindowsBehindHeaders) {
    becomesFast();
    for (const unsigned headers : {1U, 8U, 9U, 100U}) {
        SCOPED_TRACE(headers);
        EXPECT_EQ(treat(frame(0, fin, 0, 123456789, headers), 0).out, Arrivals{});
        EXPECT_NE(command({"conntrack", "-f", "ipv6", "-L"}).output.find("ESTABLISHED"), std::string::npos);
        const auto within = frame(0, psh | ack, 10, 0, headers);
        EXPECT_EQ(treat(within, 0).out, routedTo(within, 1)) << "it is within its windows";
        sent_[0] += 10;
    }
    becomesFast();
}

} // namespace
} // namespace tna::test
