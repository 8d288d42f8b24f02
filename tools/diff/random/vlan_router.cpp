// SPDX-License-Identifier: Apache-2.0
// Routers whose nets are VLANs: of ports (a router on a stick), of bridges, or of bridges that filter them.
#include "diff/random/bridging.hpp"
#include "diff/random/router.hpp"

namespace tna::diff {

namespace {
class VlanRouterScenario : public RouterScenario {
public:
    explicit VlanRouterScenario(Chance& chance) : RouterScenario(chance) {}

private:
    /// A VLAN device that is a net of its own.
    struct Device {
        std::string name, below;
        unsigned vlan;
        unsigned protocol;
        unsigned net;
    };

    std::vector<std::string> setup() override {
        lines_ = routerSettings();
        switch (chance_.below(3)) {
        case 0:
            sticks();
            break;
        case 1:
            bridge(true);
            break;
        default:
            bridge(false);
        }
        for (const auto& net : nets_)
            topology_.gateways.emplace_back(net.mac);
        return finish(std::move(lines_));
    }

    /// Four ports with VLAN devices of both kinds, most of them nets by themselves as well.
    void sticks() {
        for (unsigned i = 0; i < ports; i++) {
            const auto name = "p" + std::to_string(i);
            lines_.push_back(fmt::format("ip link set {} up", name));
            if (!chance_.once(4))
                addNet(name, deviceMac(0x10 + i), {{i, 0}});
            for (const unsigned vlan : {10U, 20U})
                if (i == 0 || chance_.once(2))
                    addVlan(name, vlan, chance_.once(4) ? 0x88a8 : 0x8100, deviceMac(0x10 + i), {{i, vlan}});
        }
    }

    /// A bridge of three ports with VLAN devices, filtering VLANs or not; beside it a port with VLAN devices.
    void bridge(bool filtering) {
        lines_.push_back(bridgeWords(chance_, "br0", bridgeMac(0)));
        lines_.emplace_back(noBridgeNetfilter);
        for (unsigned i = 0; i < 3; i++)
            lines_.push_back(fmt::format(
                "sysctl -qw net.ipv6.conf.p{0}.disable_ipv6=1 && ip link set p{0} master br0 up", i));
        lines_.emplace_back("ip link set br0 up && ip link set p3 up");
        if (filtering)
            for (const auto* words :
                 {"ip link set br0 type bridge vlan_filtering 1", "bridge vlan add dev p0 vid 10",
                  "bridge vlan add dev p0 vid 20", "bridge vlan add dev p1 vid 10 pvid untagged",
                  "bridge vlan add dev p2 vid 20 pvid untagged", "bridge vlan add dev br0 vid 10 self",
                  "bridge vlan add dev br0 vid 20 self"})
                lines_.emplace_back(words);
        filtering_ = filtering;
        bridged_ = true;
        if (chance_.once(2))
            addNet("br0", deviceMac(0), filtering ? Places{{0, 0}} : Places{{0, 0}, {1, 0}, {2, 0}});
        addVlan("br0", 10, 0x8100, deviceMac(0),
                filtering ? Places{{0, 10}, {1, 0}} : Places{{0, 10}, {1, 10}});
        addVlan("br0", 20, 0x8100, deviceMac(0),
                filtering ? Places{{0, 20}, {2, 0}} : Places{{0, 20}, {2, 20}});
        addNet("p3", deviceMac(0x13), {{3, 0}});
        if (chance_.once(2))
            addVlan("p3", 30, 0x8100, deviceMac(0x13), {{3, 30}});
    }

    /// Where hosts are: by which port, and with which tag.
    using Places = std::vector<std::pair<unsigned, unsigned>>;

    void addNet(const std::string& device, const Mac& mac, const Places& places, unsigned protocol = 0x8100) {
        const auto net = static_cast<unsigned>(nets_.size());
        nets_.push_back({net, device, mac});
        for (unsigned i = 0; i < 2 || i < places.size(); i++) {
            const auto& [port, vlan] = places[i % places.size()];
            const auto number = static_cast<unsigned>(topology_.hosts.size());
            topology_.hosts.push_back({port, net, addresses_.mac(number), address4(net, 10 + number),
                                       addresses_.six(net, 10 + number), vlan, protocol});
        }
    }
    void addVlan(const std::string& below, unsigned vlan, unsigned protocol, const Mac& mac,
                 const Places& places) {
        const auto name = "v" + std::to_string(devices_.size());
        devices_.push_back({name, below, vlan, protocol, static_cast<unsigned>(nets_.size())});
        lines_.push_back(creation(devices_.back()));
        addNet(name, mac, places, protocol);
    }
    static std::string creation(const Device& device) {
        return fmt::format("ip link add link {} name {} type vlan id {} protocol {}", device.below,
                           device.name, device.vlan, device.protocol == 0x8100 ? "802.1Q" : "802.1ad");
    }

    std::vector<Step> newChange() override {
        std::string undo, words;
        switch (chance_.below(10)) {
        case 0:
        case 1:
            words = device(undo);
            break;
        case 2:
            if (!bridged_)
                return RouterScenario::newChange();
            words = portSetting(chance_, "p" + std::to_string(chance_.below(3)), undo);
            break;
        case 3:
        case 4:
            if (!filtering_)
                return RouterScenario::newChange();
            words = vlan(undo);
            break;
        case 5:
            words = below(undo);
            break;
        default:
            return RouterScenario::newChange();
        }
        if (!undo.empty())
            undoBy(undo);
        return oneStep(words);
    }

    /// Of a VLAN device.
    std::string device(std::string& undo) {
        const auto& device = devices_[chance_.below(devices_.size())];
        const auto back = addressWords(nets_[device.net], topology_);
        switch (chance_.below(5)) {
        case 0: { // it goes and comes back
            undo = creation(device);
            for (const auto& line : netSetup(nets_[device.net], topology_))
                undo += " && " + line;
            undo += "; sysctl -qw net.ipv6.conf.all.forwarding=0 net.ipv6.conf.all.forwarding=1";
            return "ip link del " + device.name;
        }
        case 1:
            undo = fmt::format("ip link set {} up; {}", device.name, back);
            return fmt::format("ip link set {} down", device.name);
        case 2:
            undo = fmt::format("ip link set {} type vlan reorder_hdr on", device.name);
            return fmt::format("ip link set {} type vlan reorder_hdr off", device.name);
        case 3: // which stays
            return fmt::format("ip link set {} type vlan {}-qos-map 0:{}", device.name,
                               chance_.oneOf({"egress", "ingress"}), chance_.below(8));
        default:
            undo = fmt::format("ip link set {} mtu 1500", device.name);
            return fmt::format("ip link set {} mtu {}", device.name, chance_.oneOf({1000, 1280, 1400, 1496}));
        }
    }

    /// Of what VLAN devices are on.
    std::string below(std::string& undo) {
        const auto& device = devices_[chance_.below(devices_.size())];
        if (chance_.once(2)) {
            undo = fmt::format("ip link set {} mtu 1500", device.below);
            for (const auto& other : devices_)
                undo += fmt::format("; ip link set {} mtu 1500", other.name);
            return fmt::format("ip link set {} mtu {}", device.below,
                               chance_.oneOf({1000, 1400, 1504, 9000}));
        }
        undo = fmt::format("ip link set {} up", device.below);
        for (const auto& other : devices_)
            undo += fmt::format("; ip link set {} up", other.name);
        for (const auto& net : nets_)
            undo += "; " + addressWords(net, topology_);
        return fmt::format("ip link set {} down", device.below);
    }

    /// Of a bridge that filters.
    std::string vlan(std::string& undo) {
        const auto which =
            chance_.oneOf<std::string>({"dev br0 vid 10 self", "dev br0 vid 20 self", "dev p0 vid 10",
                                        "dev p0 vid 20", "dev p1 vid 10", "dev p2 vid 20"});
        const std::string untagged = which[4] == 'p' && which[5] != '0' ? " pvid untagged" : "";
        switch (chance_.below(5)) {
        case 0:
        case 1:
            undo = "bridge vlan add " + which + untagged;
            return "bridge vlan del " + which;
        case 2:
            undo = "bridge vlan set " + which + " state forwarding";
            return "bridge vlan set " + which + " state " +
                   chance_.oneOf({"disabled", "listening", "learning", "blocking"});
        case 3:
            undo = "ip link set br0 type bridge vlan_filtering 1";
            return "ip link set br0 type bridge vlan_filtering 0";
        default:
            undo = "bridge vlan add " + which + untagged;
            return "bridge vlan add " + which + chance_.oneOf({" untagged", "", " pvid"});
        }
    }

    Addresses addresses_{chance_};
    std::vector<std::string> lines_;
    std::vector<Device> devices_;
    bool filtering_ = false;
    bool bridged_ = false;
};

/// Ports join and leave a device that has a table of routes for itself.
class VrfScenario : public RouterScenario {
public:
    explicit VrfScenario(Chance& chance) : RouterScenario(chance) {}

private:
    std::vector<Step> newChange() override {
        if (!chance_.once(4))
            return RouterScenario::newChange();
        const auto& net = nets_[chance_.below(nets_.size())];
        const auto back = addressWords(net, topology_);
        undoBy(fmt::format("ip link set {} nomaster; {}", net.device, back));
        // The first one brings a rule, and from then on the kernel follows rules.
        return oneStep(fmt::format("ip link add vrf0 type vrf table 100; ip link set vrf0 up; "
                                   "ip link set {} master vrf0; {}",
                                   net.device, back));
    }
};
} // namespace

std::unique_ptr<Scenario> vlanRouterScenario(Chance& chance) {
    return std::make_unique<VlanRouterScenario>(chance);
}

std::unique_ptr<Scenario> vrfScenario(Chance& chance) {
    return std::make_unique<VrfScenario>(chance);
}

} // namespace tna::diff
