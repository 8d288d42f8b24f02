// SPDX-License-Identifier: Apache-2.0
// Routers whose ports are links, or bridges.
#include "diff/random/router.hpp"

#include "diff/random/bridging.hpp"

namespace tna::diff {

Mac deviceMac(unsigned last) {
    return {2, 0, 0, 0, 0xff, static_cast<std::uint8_t>(last)};
}

std::vector<Step> oneStep(std::string words) {
    return {Command{std::move(words)}};
}

std::vector<std::string> RouterScenario::setup() {
    auto lines = routerSettings();
    for (unsigned i = 0; i < ports; i++)
        nets_.push_back({i, "p" + std::to_string(i), deviceMac(0x10 + i)});
    const Addresses addresses(chance_);
    for (const auto& net : nets_) {
        for (unsigned host = 2; host <= 3; host++)
            topology_.hosts.push_back({net.number, net.number, addresses.mac(2 * net.number + host - 2),
                                       address4(net.number, host), addresses.six(net.number, host)});
        topology_.gateways.emplace_back(net.mac);
    }
    return finish(std::move(lines));
}

std::vector<std::string> RouterScenario::finish(std::vector<std::string> lines) {
    for (const auto& net : nets_)
        for (auto& line : netSetup(net, topology_))
            lines.push_back(std::move(line));
    for (auto& line : largeFrames())
        lines.push_back(std::move(line));
    lines.emplace_back("sysctl -qw net.ipv6.conf.all.forwarding=1");
    routing_.emplace(chance_, topology_, nets_);
    for (const auto& net : nets_)
        topology_.devices.push_back(net.device);
    const auto& gateway = topology_.hosts[2];
    lines.push_back(fmt::format("ip route add 10.9.0.0/16 via {}", text4(gateway.ip4)));
    lines.push_back(fmt::format("ip -6 route add fd09::/16 via {}", text6(topology_.hosts.back().ip6)));
    return lines;
}

std::string RouterScenario::restoration() {
    std::string words;
    for (const auto& net : nets_)
        for (const auto& line : netSetup(net, topology_))
            words += (words.empty() ? "" : "; ") + line;
    return words + "; sysctl -qw net.ipv6.conf.all.forwarding=0 net.ipv6.conf.all.forwarding=1";
}

std::vector<Step> RouterScenario::newChange() {
    std::string undo, words;
    switch (chance_.below(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
        words = routing_->route(undo);
        break;
    case 4:
    case 5:
        words = routing_->neighbour(undo);
        break;
    case 6:
    case 7:
        words = routing_->setting(undo);
        break;
    case 8:
        words = routing_->address(undo);
        break;
    case 9:
        return chance_.once(2) ? carrier() : capture();
    case 10:
        return chance_.once(3) ? ipsec() : filter();
    default: // from the first one on nothing is found by next hops any more, so most routers have none
        words = ruled_ || chance_.once(6) ? routing_->rule(undo) : routing_->route(undo);
        ruled_ = ruled_ || words.find("rule add") != std::string::npos;
    }
    if (!undo.empty())
        undoBy(undo);
    return oneStep(words);
}

std::vector<Step> RouterScenario::ipsec() {
    undoBy("ip xfrm policy flush");
    return oneStep(fmt::format("ip xfrm policy add src {} dst {} dir {} action block",
                               chance_.oneOf({"10.0.0.0/16", "fd00::/48"}),
                               chance_.oneOf({"10.0.0.0/8", "fd00::/8"}), chance_.oneOf({"fwd", "out"})));
}

namespace {
/// Two bridges, or a bridge and links; all of them with addresses.
class RoutedBridgeScenario : public RouterScenario {
public:
    explicit RoutedBridgeScenario(Chance& chance) : RouterScenario(chance), second_(chance.once(2)) {}

private:
    std::vector<std::string> setup() override {
        auto lines = routerSettings();
        lines.push_back(bridgeWords(chance_, "br0", bridgeMac(0)));
        if (second_)
            lines.push_back(bridgeWords(chance_, "br1", bridgeMac(1)));
        lines.emplace_back(noBridgeNetfilter);
        nets_.push_back({0, "br0", deviceMac(0)});
        if (second_)
            nets_.push_back({1, "br1", deviceMac(1)});
        for (unsigned i = 0; i < ports; i++)
            if (const auto net = netOf(i); net < (second_ ? 2U : 1U))
                lines.push_back(fmt::format(
                    "sysctl -qw net.ipv6.conf.p{0}.disable_ipv6=1 && ip link set p{0} master br{1} up", i,
                    net));
            else
                nets_.push_back({net, "p" + std::to_string(i), deviceMac(0x10 + i)});
        if (chance_.once(2)) // known behind one port, which does not matter
            lines.push_back(fmt::format("bridge fdb add {} dev p{} master static", text(groupMac),
                                        chance_.below(second_ ? ports : 2)));
        for (const auto& net : nets_)
            topology_.gateways.emplace_back(net.mac);
        const Addresses addresses(chance_);
        for (unsigned i = 0; i < 2 * ports; i++) {
            const auto net = netOf(i % ports);
            topology_.hosts.push_back(
                {i % ports, net, addresses.mac(i), address4(net, 10 + i), addresses.six(net, 10 + i)});
        }
        return finish(std::move(lines));
    }

    /// p0 and p1 belong to the first bridge; p2 and p3 to the second one, or are nets of their own.
    [[nodiscard]] unsigned netOf(unsigned port) const { return port < 2 ? 0 : second_ ? 1 : port - 1; }

    std::vector<Step> newChange() override {
        std::string undo, words;
        const auto which = "p" + std::to_string(chance_.below(second_ ? ports : 2));
        switch (chance_.below(8)) {
        case 0:
            words = portSetting(chance_, which, undo);
            break;
        case 1:
            return oneStep(entry(chance_, topology_, which, ""));
        case 2: { // a host moves to the bridge's other port
            auto& host = topology_.hosts[chance_.below(topology_.hosts.size())];
            if (host.net == 0 || second_)
                host.port ^= 1U;
            return {};
        }
        default:
            return RouterScenario::newChange();
        }
        undoBy(undo);
        return oneStep(words);
    }

    bool second_;
};
} // namespace

std::unique_ptr<Scenario> routerScenario(Chance& chance) {
    return std::make_unique<RouterScenario>(chance);
}

std::unique_ptr<Scenario> routedBridgeScenario(Chance& chance) {
    return std::make_unique<RoutedBridgeScenario>(chance);
}

} // namespace tna::diff
