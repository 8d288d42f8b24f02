// SPDX-License-Identifier: Apache-2.0
// Rule sets as people have them, loaded by nft and iptables-nft, read, and judged.
#include "assemble/rules/flows.hpp"
#include "assemble/rules/text.hpp"
#include "netns/rules/rules_fixture.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

namespace tna::test {
namespace {

using assemble::Invalid;
using assemble::JudgedHook;
using model::RuleFamily;

struct Case {
    const char* file;
    /// "PACKETS HOOK PROTOCOLS: CHAIN: RULE: REASON" of all that is in the way; a part of the rule will do.
    std::vector<std::string> inTheWay;
    /// What becomes of forwarded packets of TCP over IPv4 that connection tracking calls invalid; and of
    /// those for this host.
    Invalid invalid = Invalid::depends;
    bool droppedForHost = false;
};
std::ostream& operator<<(std::ostream& out, const Case& one) {
    return out << one.file;
}

class RuleSets : public Rules, public ::testing::WithParamInterface<Case> {
protected:
    /// False where this machine cannot load it.
    static bool load(const std::string& file) {
        const auto path = std::string(TNA_RULE_SETS "/") + file;
        const auto done = file.ends_with(".nft")         ? command({"nft", "-f", path})
                          : file.ends_with(".ip6tables") ? command({"ip6tables-nft-restore", path})
                                                         : command({"iptables-nft-restore", path});
        if (done.exitCode == 127 || done.output.contains("No such file or directory") ||
            done.output.contains("not supported") || done.output.contains("missing kernel module") ||
            done.output.contains("Extension "))
            return false;
        EXPECT_EQ(done.exitCode, 0) << done.output;
        return done.exitCode == 0;
    }
    static std::string textOf(const JudgedHook& hook, const assemble::RuleObstacle& obstacle) {
        return fmt::format("{} {} {}{}: {}: {}: {}", assemble::textOf(hook.packets),
                           assemble::hookText(hook.packets, hook.hook), obstacle.tcp ? "tcp" : "",
                           obstacle.udp ? "udp" : "", obstacle.chain, obstacle.rule, obstacle.reason);
    }
};

TEST_P(RuleSets, AreSteadyButForTheRulesThatAreNamed) {
    if (!load(GetParam().file))
        GTEST_SKIP() << "this machine cannot load " << GetParam().file;
    std::vector<std::string> found;
    std::size_t chains = 0;
    for (const auto& hook : assemble::judgeRules(read())) {
        chains += hook.chains.size();
        for (const auto& obstacle : hook.obstacles)
            found.push_back(textOf(hook, obstacle));
        const bool tcp = std::ranges::none_of(hook.obstacles, &assemble::RuleObstacle::tcp);
        const bool udp = std::ranges::none_of(hook.obstacles, &assemble::RuleObstacle::udp);
        EXPECT_EQ(hook.steadyForTcp, tcp);
        EXPECT_EQ(hook.steadyForUdp, udp);
    }
    EXPECT_GT(chains, 0U);
    EXPECT_EQ(found, GetParam().inTheWay);
    auto set = read();
    set.generation = 1;
    const auto ipv4 = assemble::judgeForFlows({.set = std::move(set), .ipv4 = {}, .ipv6 = {}}, {}).ipv4;
    EXPECT_EQ(ipv4.invalid, GetParam().invalid);
    EXPECT_EQ(ipv4.invalidDroppedForHost, GetParam().droppedForHost);
}

const std::vector<Case> cases{
    {"ufw.iptables", {}, Invalid::depends, true},
    {"ufw.ip6tables", {}, Invalid::passed},
    {"shorewall.iptables", {}},
    {"ufw_full_logging.iptables",
     {"ip forward tcpudp: ufw-before-logging-forward: counter xt target LOG: LOG tells about each packet"},
     Invalid::depends,
     true},
    {"docker.iptables", {}},
    {"libvirt.iptables", {}},
    {"kube_proxy.iptables", {}, Invalid::dropped},
    {"clamped.iptables", {}},
    {"tailscale.iptables", {}},
    {"wg_quick.iptables", {}, Invalid::passed},
    {"wg_quick.nft", {}, Invalid::passed},
    {"calico.iptables", {}, Invalid::dropped},
    {"incus.nft", {}, Invalid::passed},
    {"netavark.nft", {}, Invalid::dropped},
    {"vyos.nft", {}, Invalid::dropped, true},
    {"limited.iptables",
     {"ip forward udp: FORWARD: meta l4proto 17 xt match hashlimit counter drop: the match 'hashlimit' "
      "(revision 3) "
      "can answer differently for packets of one flow"},
     Invalid::passed},
    {"firewalld.nft", {}, Invalid::dropped, true},
    {"kube_proxy.nft", {}, Invalid::passed},
    {"fw4.nft", {}},
    {"prefixes.nft", {}, Invalid::dropped},
    {"blocked_for_a_time.nft", {}},
    {"crowdsec.nft", {}},
    {"allowed_for_a_time.nft",
     {"ip forward tcpudp: forward: meta nfproto 2 ip saddr @allowed accept: elements of allowed come and go "
      "by "
      "the "
      "clock"}},
    {"bridged.nft",
     {"bridge forward udp: forward: @ll,96,16 0x0800 ip protocol 17 quota drop: how much has passed "
      "decides"},
     Invalid::passed}};

INSTANTIATE_TEST_SUITE_P(AsPeopleHaveThem, RuleSets, ::testing::ValuesIn(cases), [](const auto& info) {
    std::string name = info.param.file;
    std::ranges::replace(name, '.', '_');
    return name;
});

} // namespace
} // namespace tna::test
