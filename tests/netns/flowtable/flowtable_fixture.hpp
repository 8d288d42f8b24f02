// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file.hpp"
#include "nat_fixture.hpp"

#include <fmt/format.h>

namespace tna::test {

inline constexpr const char* needsFlowtables =
    "needs nft, and a kernel in which XDP can look into flowtables (6.11)";

/// Loads rules with a flowtable, if that can be had; what is in it stays as long as a test may take.
[[nodiscard]] inline bool hasFlowtables(const std::string& rules) {
    if (command({"nft", rules}).exitCode != 0 ||
        !readFile("/proc/kallsyms").value_or("").contains(" bpf_xdp_flow_lookup"))
        return false;
    sysctl("net.netfilter.nf_flowtable_udp_timeout", "1000000");
    sysctl("net.netfilter.nf_flowtable_tcp_timeout", "1000000");
    return true;
}

/// Rules that put what they forward between ports into a flowtable, and a flow of UDP that is in it.
/// Its packets get another source, another destination, or both.
template <typename Router, unsigned Steps = 0>
class FlowtableOf : public TranslatedOf<Router, Steps> {
protected:
    using Base = TranslatedOf<Router, Steps>;

    void SetUp() override {
        Router::SetUp();
        if (this->IsSkipped())
            return;
        if (!hasFlowtables(rules()))
            GTEST_SKIP() << needsFlowtables;
        flows();
    }
    /// Of what is one case after the other: what Linux makes of the frame, and then how the fast path treats
    /// it. What is set is undone each time, and the flow put into the table again.
    struct Case {
        const char* name;
        Frame frame;
        std::string reason; ///< empty: it is fast
        std::vector<std::string> set{};
        std::vector<std::string> unset{};
        bool again = false; ///< the flow is put into the table again once that is set
    };
    void set(const Case& one) {
        this->run(one.set);
        if (one.again)
            flows();
    }
    void expectAllAsLinux(const std::vector<Case>& cases) {
        std::vector<Arrivals> linux;
        for (const auto& one : cases) {
            SCOPED_TRACE(one.name);
            set(one);
            linux.push_back(this->treat(one.frame).out);
            this->run(one.unset);
            flows();
        }
        this->accelerate();
        for (std::size_t i = 0; i < cases.size() && !this->IsSkipped(); i++) {
            const auto& one = cases[i];
            SCOPED_TRACE(one.name);
            flows();
            EXPECT_EQ(this->send(this->sent(0)), fastPath()) << "before";
            set(one);
            EXPECT_EQ(this->treat(one.frame),
                      (Treatment{one.reason.empty() ? fastPath() : slowPath(one.reason), linux[i]}));
            this->run(one.unset);
        }
    }
    /// Those of a flowtable's table.
    virtual std::string flowtable() { return "hook ingress priority 0; devices = { p0, p1, p2 };"; }
    std::string rules() override {
        const char* family = Base::six ? "ip6" : "ip";
        const auto end = [](const char* address, unsigned port) {
            return fmt::format(Base::six ? "[{}]:{}" : "{}:{}", address, port);
        };
        std::string text = fmt::format("table inet guard {{ flowtable ft {{ {} }};"
                                       " chain forward {{ type filter hook forward priority 0;"
                                       " meta l4proto {{ tcp, udp }} flow add @ft; }};",
                                       flowtable());
        if (Base::redirected)
            text += fmt::format(" chain before {{ type nat hook prerouting priority -100;"
                                " {0} daddr {1} udp dport 80 dnat {0} to {2}; }};",
                                family, Base::service, end(Base::server, 5000));
        if (Base::hidden)
            text += fmt::format(" chain after {{ type nat hook postrouting priority 100;"
                                " {0} saddr {1} udp sport 4000 snat {0} to {2}; }};",
                                family, Base::host, end(Base::outside, 4001));
        return text + " }";
    }
    /// Linux knows it from its first packet on, and the rules put it into the table with the next one.
    void flows() {
        for (int i = 0; i < 3; i++)
            for (const unsigned in : {0U, 1U})
                EXPECT_EQ(this->treated(this->sent(in), in).out.size(), 1U);
    }
};

} // namespace tna::test
