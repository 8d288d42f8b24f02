// SPDX-License-Identifier: Apache-2.0
// Services of IPVS: what is sent to them, and what their servers answer, is Linux's, and so is all else that
// passes while there are some.
#include "connections_fixture.hpp"

#include <arpa/inet.h>
#include <cstdlib>
#include <linux/ip_vs.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

std::uint32_t address(const char* text) {
    in_addr found{};
    EXPECT_EQ(::inet_pton(AF_INET, text, &found), 1);
    return found.s_addr;
}

class Ipvs : public ConnectionsTest {
protected:
    static constexpr const char* service = "10.0.7.7";
    static constexpr const char* server = "10.0.1.2";

    void SetUp() override {
        ConnectionsTest::SetUp();
        if (IsSkipped())
            return;
        if (std::getenv("TNA_IN_VM") != nullptr)
            command({"modprobe", "-a", "ip_vs", "ip_vs_rr"});
        socket_.reset(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW));
        ASSERT_TRUE(socket_);
        if (::setsockopt(socket_.get(), IPPROTO_IP, IP_VS_SO_SET_FLUSH, nullptr, 0) != 0)
            GTEST_SKIP() << "this kernel has no IPVS, or not yet";
        must("ip link set lo up");
        must(std::string("ip address add ") + service + "/32 dev lo");
    }
    static ip_vs_service_user serviceWords() {
        ip_vs_service_user words{};
        words.protocol = IPPROTO_UDP;
        words.addr = address(service);
        words.port = htons(80);
        std::strcpy(words.sched_name, "rr");
        return words;
    }
    void addService(unsigned method) {
        auto words = serviceWords();
        ASSERT_EQ(::setsockopt(socket_.get(), IPPROTO_IP, IP_VS_SO_SET_ADD, &words, sizeof words), 0)
            << std::strerror(errno);
        struct {
            ip_vs_service_user service;
            ip_vs_dest_user server;
        } both{words, {}};
        both.server = {.addr = address(server),
                       .port = htons(method == IP_VS_CONN_F_MASQ ? 5000 : 80),
                       .conn_flags = method,
                       .weight = 1,
                       .u_threshold = 0,
                       .l_threshold = 0};
        ASSERT_EQ(::setsockopt(socket_.get(), IPPROTO_IP, IP_VS_SO_SET_ADDDEST, &both, sizeof both), 0)
            << std::strerror(errno);
    }
    void deleteService() {
        auto words = serviceWords();
        ASSERT_EQ(::setsockopt(socket_.get(), IPPROTO_IP, IP_VS_SO_SET_DEL, &words, sizeof words), 0);
    }
    static Frame toService() { return finishUdp(RouteTest::packet({.to = service}), 4000, 80); }
    static Frame answer() {
        return finishUdp(ipv4Frame(portMac(1), station(2), {.from = server, .to = "10.0.0.2"}), 5000, 4000);
    }
    static Frame ofOthers() { return finishUdp(RouteTest::packet({}), 4007, 5007); }

    /// By plain Linux, and then beside the fast path.
    void expectAllAsLinux() {
        const std::vector<std::pair<Frame, unsigned>> frames{{toService(), 0}, {answer(), 1},
                                                             {toService(), 0}, {answer(), 1},
                                                             {ofOthers(), 0},  {ofOthers(), 0}};
        std::vector<Arrivals> linux;
        for (const auto& [frame, port] : frames)
            linux.push_back(treat(frame, port).out);
        EXPECT_TRUE(linux.at(0).contains(1)) << "the server is not reached";
        accelerate();
        if (IsSkipped())
            return;
        for (std::size_t i = 0; i < 3 * frames.size(); i++) {
            const auto& [frame, port] = frames.at(i % frames.size());
            const auto got = treat(frame, port);
            EXPECT_EQ(got.out, linux.at(i % frames.size()));
            EXPECT_EQ(got.path.fast, 0U) << i;
        }
    }
    /// Who asks is told.
    void expectNamed() {
        const auto explained = controller_->port("p1");
        ASSERT_TRUE(explained);
        EXPECT_TRUE(explained->dump().contains("IPVS (ip_vs_")) << explained->dump();
        EXPECT_TRUE(controller_->rules().dump().contains("IPVS (ip_vs_"));
    }

    UniqueFd socket_;
};

TEST_F(Ipvs, TranslatedServicesAreLinuxs) {
    addService(IP_VS_CONN_F_MASQ);
    expectAllAsLinux();
    expectNamed();
}

TEST_F(Ipvs, ServicesByDirectRoutingAreLinuxs) {
    addService(IP_VS_CONN_F_DROUTE);
    expectAllAsLinux();
    expectNamed();
}

TEST_F(Ipvs, TranslatedServicesBesideRulesAreLinuxs) {
    nft("table inet guard { chain forward { type filter hook forward priority 0; policy accept;"
        " ct state established,related accept; }; }");
    sysctl("net.ipv4.vs.conntrack", "1");
    addService(IP_VS_CONN_F_MASQ);
    expectAllAsLinux();
    expectNamed();
}

/// The kernel calls IPVS from the first service on, until the last one has gone.
TEST_F(Ipvs, OthersAreFastWithoutServices) {
    begin();
    if (IsSkipped())
        return;
    learned();
    EXPECT_EQ(treat(forth()), (Treatment{fastPath(), routedTo(forth())}));
    addService(IP_VS_CONN_F_MASQ);
    expectLinux(forth(), "ip-netfilter");
    deleteService();
    EXPECT_TRUE(eventually([&] {
        controller_->onTick(); // looks after the functions that have gone unannounced
        pump();
        return treat(forth()) == Treatment{fastPath(), routedTo(forth())};
    }));
}

} // namespace
} // namespace tna::test
