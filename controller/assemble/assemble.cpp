// SPDX-License-Identifier: Apache-2.0
#include "assemble/assemble.hpp"

#include "assemble/devices.hpp"
#include "assemble/flow_places.hpp"
#include "assemble/manifest.hpp"
#include "assemble/modules/bridge.hpp"
#include "assemble/watched.hpp"

#include <algorithm>
#include <iterator>

namespace tna::assemble {

namespace {

constexpr std::uint32_t mainTable = 254; // RT_TABLE_MAIN

const Manifest& mainModule(const PortInQuestion& port) {
    return *std::ranges::find_if(manifests(), [&](const Manifest& manifest) { return manifest.isFor(port); });
}

/// The custom modules that are wanted at a hook of a link, besides the one that steers.
std::vector<std::string> customWanted(const Wishes& wishes, model::IfIndex link, tna_hook hook) {
    const auto it = wishes.custom.find(link);
    const auto steering = wishes.steered.find(link);
    std::vector<std::string> wanted;
    if (it != wishes.custom.end())
        std::ranges::copy_if(it->second.at(hook), std::back_inserter(wanted), [&](const auto& identity) {
            return steering == wishes.steered.end() || identity != steering->second;
        });
    return wanted;
}

const char* whyAtTcx(const Surroundings& around, const model::Link& link) {
    if (around.wishes.atTcx.contains(link.ifindex))
        return "the configuration says so";
    if (around.alone.contains(link.ifindex))
        return "it has no other port to exchange frames with, and those of containers would be at tcx";
    return mayBePort(link) ? "XDP sends to none of the ports that it exchanges frames with"
                           : "others are there, and it can be nowhere else";
}

class PortDecision {
public:
    PortDecision(const Surroundings& around, const model::Link& link, const model::Link* bridge)
        : around_(around), capabilities_(around.capabilities), wishes_(around.wishes), link_(link),
          bridge_(bridge), hook_(around.atTcx.contains(link.ifindex) ? Hook::tcx : Hook::xdp),
          main_(mainModule({around, link, bridge, hook_})) {}

    PortPlan decide() {
        PortPlan plan;
        plan.ifindex = link_.ifindex;
        plan.name = link_.name;
        plan.routed = bridge_ == nullptr;
        const auto judgement = judge(around_.network, around_.layers, link_, promises(), !watched());
        plan.hook = hook_;
        if (hook_ == Hook::tcx)
            plan.hookWhy = whyAtTcx(around_, link_);
        plan.wouldMove =
            hook_ == Hook::tcx && mayBePort(link_) && !wishes_.atTcxByName.contains(link_.ifindex);
        ruleOperator();
        if (hook_ == Hook::tcx)
            ruleTcx(judgement);
        else
            ruleXdp(judgement);
        ruleKernel();
        ruleModule(plan);
        plan.egressReason = judgement.egress ? judgement.egress : refusal();
        plan.shortest = judgement.shortest;
        plan.egress = hook_ == Hook::xdp && egressAllowed() && !plan.egressReason;
        plan.tcxEgress = egressAllowed() && customWanted(wishes_, link_.ifindex, TNA_HOOK_EGRESS).empty() &&
                         !judgement.tcx;
        if (reasons_.empty()) {
            plan.profile = profile(hook_);
            plan.behind = behind(judgement);
            plan.profile->tcxBehind = plan.behind.has_value();
            if (plan.behind)
                plan.hookWhy = "what goes to ports that XDP does not send to is seen at tcx";
        }
        if (watched() && bridge_ != nullptr)
            plan.watched = watchPort(around_, link_, *bridge_, plan.egress, plan.shortest);
        plan.reasons = std::move(reasons_);
        return plan;
    }

private:
    [[nodiscard]] bool watched() const { return around_.watched(); }

    void no(std::string code, std::string text, std::string hint = {}) {
        reasons_.push_back({std::move(code), std::move(text), std::move(hint)});
    }

    void ruleOperator() {
        if (wishes_.allPaused || wishes_.paused.contains(link_.ifindex))
            no("paused", "paused by the operator", "tnactl resume " + link_.name);
        if (wishes_.mistrusted.contains(main_.name))
            no("self-check",
               "the fast path has disagreed with the kernel about a packet, and is not believed any more",
               "tnactl resume, and please report what the log says");
        if (const auto it = wishes_.excluded.find(link_.ifindex); it != wishes_.excluded.end())
            reasons_.push_back(it->second);
    }

    void ruleXdp(const Judgement& judgement) {
        if (wishes_.atTcx.contains(link_.ifindex)) {
            noTcx();
            return;
        }
        if (mayBePort(link_))
            ruleDevice();
        ruleKnown(judgement);
    }

    /// A device that Linux receives from by itself has its frames whole there, whatever its driver.
    void ruleTcx(const Judgement& judgement) {
        const std::string kind = "it is for tcx, and ";
        if (std::ranges::find(main_.hooks, Hook::tcx) == main_.hooks.end())
            no("not-at-tcx", kind + "the module " + main_.name + " is not for that hook");
        if (const auto resting = wishes_.resting.find(link_.ifindex); resting != wishes_.resting.end())
            reasons_.push_back(resting->second);
        ruleWire();
        if (judgement.tcx)
            reasons_.push_back(*judgement.tcx);
        for (const auto hook : {TNA_HOOK_INGRESS, TNA_HOOK_BRIDGE, TNA_HOOK_ROUTE})
            if (const auto module = onlyAtXdp(hook)) {
                no("custom-modules", kind + "the custom module " + *module + " is for ports at XDP only",
                   "compile it for both (TNA_MODULE_AT_TCX, see tna-fpm(7)), or place it on other ports");
                break;
            }
    }

    /// Others' frames are redirected to it from XDP all the same, as to one that is excluded by kind.
    void noTcx() {
        const auto& tcx = capabilities_.tcx;
        if (!tcx.available)
            no("no-tcx", "it is for tcx, and " + tcx.detail, "Linux 6.6 or newer has it");
        else
            no("no-tcx", "it is for tcx, and where nothing is read in place there is nothing for that hook");
    }

    /// The first custom module wanted there that ports at tcx cannot have, by its name.
    [[nodiscard]] std::optional<std::string> onlyAtXdp(tna_hook hook) const {
        for (const auto& identity : customWanted(wishes_, link_.ifindex, hook))
            if (!wishes_.customAtTcx.contains({identity, hook}))
                return identity.substr(0, identity.find('#'));
        return std::nullopt;
    }

    /// What is known of its kind or driver, and of what lies below.
    void ruleKnown(const Judgement& judgement) {
        if (bridge_ == nullptr && link_.vlan)
            no("vlan-device",
               "it is a VLAN device, but not on a port or bridge of this namespace that no other "
               "device owns: what is routed to and from it is left to Linux");
        else if (judgement.ingress && (judgement.ingress->code != "not-known-safe" || native()))
            reasons_.push_back(*judgement.ingress);
    }

    [[nodiscard]] Promises promises() const {
        return {.trusted = wishes_.trusted.contains(link_.ifindex),
                .finished = wishes_.finished.contains(link_.ifindex)};
    }

    [[nodiscard]] bool native() const {
        const auto features = capabilities_.devices.find(link_.ifindex);
        return features != capabilities_.devices.end() && features->second.native;
    }

    void ruleDevice() {
        const auto& xdp = link_.xdp;
        const bool carries = xdp.driverProgram != 0 || xdp.genericProgram != 0 || xdp.offloadProgram != 0;
        if (carries && !wishes_.attached.contains(link_.ifindex))
            no("foreign-xdp", "another XDP program is attached; it is left alone",
               "`ip link show " + link_.name + "` names it; `ip link set " + link_.name +
                   " xdp off` takes it away, if nobody needs it");
        // On a veth the tag is beside the frame as well; see guard_hidden_tag() and judge().
        if (link_.vlanRxOffload && link_.kind != "veth")
            no("vlan-offload", "it takes VLAN tags out of frames before XDP sees them",
               "`ethtool -K " + link_.name + " rxvlan off`");
        if (link_.serviceTagRxOffload && link_.kind != "veth")
            no("vlan-offload", "it takes 802.1ad tags out of frames before XDP sees them",
               "`ethtool -K " + link_.name + " rx-vlan-stag-hw-parse off`");
        ruleWire();
        if (capabilities_.devices.empty()) // not even the loopback's
            no("no-native-xdp", "the kernel does not tell what drivers can do with XDP");
        else if (!native() && link_.kind == "veth") // veth_set_xdp_features()
            no("no-native-xdp",
               "it has fewer receive queues than its peer has transmit queues, and no native XDP for that",
               "`ethtool -L " + link_.name + " rx N`, or numrxqueues when it is made");
        else if (!native())
            no("no-native-xdp", "its driver has no native XDP",
               "`ethtool -i " + link_.name +
                   "` names the driver; without XDP, 'tcx' under [ports] in the configuration may name it");
    }

    /// What the frames of a device are, at either hook.
    void ruleWire() {
        if (!link_.ethernet)
            no("not-ethernet", "it is not an Ethernet device");
        if (link_.switchPort)
            no("switchdev", "it is a port of a switch chip, which may forward by itself");
        if (leadsToSwitch(around_.layers, link_))
            no("switch-conduit",
               "the frames of a switch chip's ports come in by it, with tags of the chip's own");
    }

    void ruleKernel() {
        if (!capabilities_.fastPath.available)
            no("kernel", "the fast path does not load: " + capabilities_.fastPath.detail);
    }

    void ruleModule(PortPlan& plan) {
        const PortInQuestion port{around_, link_, bridge_, hook_};
        std::ranges::move(main_.obstacles(port), std::back_inserter(reasons_));
        if (main_.settingsAgainst == nullptr)
            return;
        plan.standby = reasons_.empty();
        std::ranges::move(main_.settingsAgainst(port), std::back_inserter(reasons_));
    }

    /// Why nothing is redirected to a device that could otherwise be.
    [[nodiscard]] std::optional<Reason> refusal() const {
        if (const auto it = wishes_.refused.find(link_.ifindex); it != wishes_.refused.end())
            return it->second;
        if (wishes_.refusalsUnseen && mayRefuse(link_))
            return Reason{"refusals-unseen",
                          "its driver may refuse redirected frames, which would be lost unnoticed: " +
                              *wishes_.refusalsUnseen,
                          {}};
        return std::nullopt;
    }

    /// What the operator has named is not touched at all; other exclusions are about incoming frames.
    [[nodiscard]] bool egressAllowed() const {
        if (wishes_.allPaused || wishes_.paused.contains(link_.ifindex) || !link_.ethernet ||
            link_.switchPort)
            return false;
        const auto it = wishes_.excluded.find(link_.ifindex);
        return it == wishes_.excluded.end() || it->second.code != "excluded-name";
    }

    /// At tcx, behind XDP, for ports that XDP sends nothing to.
    [[nodiscard]] std::optional<Profile> behind(const Judgement& judgement) const {
        if (hook_ != Hook::xdp || !around_.anotherOnlyFromTcx(link_.ifindex) || judgement.tcx || watched() ||
            wishes_.custom.contains(link_.ifindex) || wishes_.steered.contains(link_.ifindex) ||
            std::ranges::find(main_.hooks, Hook::tcx) == main_.hooks.end())
            return std::nullopt;
        const PortInQuestion port{around_, link_, bridge_, Hook::tcx};
        if (!main_.obstacles(port).empty() ||
            (main_.settingsAgainst != nullptr && !main_.settingsAgainst(port).empty()))
            return std::nullopt;
        return profile(Hook::tcx);
    }

    [[nodiscard]] Profile profile(Hook hook) const {
        Profile profile{.hook = hook, .watched = watched()};
        for (const auto& manifest : manifests())
            if (std::ranges::find(manifest.hooks, hook) == manifest.hooks.end())
                continue;
            else if (auto module = manifest.wantedFor({around_, link_, bridge_, hook}))
                profile.modules.push_back(std::move(*module));
        if (!watched()) {
            profile.veth = hook == Hook::xdp && link_.kind == "veth";
            // It has a hook for routed packets in each namespace that has bridges.
            profile.brNetfilter = around_.bridges && capabilities_.brNetfilter;
            profile.rules =
                wishes_.learning && std::ranges::any_of(profile.modules, [&](const ProfileModule& module) {
                    return manifestOf(module.name).meetsRules(profile, module);
                });
            const auto* bridging = profile.module(bridgeManifest().name);
            profile.bridgeRules = wishes_.learningOfBridges && bridging != nullptr &&
                                  bridgeParameters(*bridging).vlanProtocol == 0;
        }
        return profile;
    }

    const Surroundings& around_;
    const capability::Capabilities& capabilities_;
    const Wishes& wishes_;
    const model::Link& link_;
    const model::Link* bridge_; ///< null: it is routed
    const Hook hook_;           ///< where its frames are seen
    const Manifest& main_;      ///< of the module for the sake of which it is a port
    std::vector<Reason> reasons_;
};

/// A hook is there where there is something to hook into.
void addCustom(PortPlan& port, const CustomModules& custom, const Wishes& wishes) {
    if (port.egress)
        port.egressModules = custom.at(TNA_HOOK_EGRESS);
    if (!port.profile)
        return;
    auto& hooked = port.profile->custom;
    hooked.set(TNA_HOOK_INGRESS, port.hook == Hook::xdp
                                     ? custom.at(TNA_HOOK_INGRESS)
                                     : customWanted(wishes, port.ifindex, TNA_HOOK_INGRESS));
    for (const auto& module : port.profile->modules)
        if (const auto& behind = manifestOf(module.name).customBehind)
            hooked.set(behind->hook, custom.at(behind->hook));
}

/// Where nothing is accelerated, a profile that only steers. What is paused or has a program of somebody else
/// is left alone; so is a port at tcx, which has its frames too late for it.
void addSteering(Plan& plan, const model::Link& link, const std::string& steering, const Wishes& wishes,
                 bool watched) {
    if (wishes.allPaused || wishes.paused.contains(link.ifindex))
        return;
    auto [it, isNew] = plan.ports.try_emplace(link.ifindex);
    auto& port = it->second;
    if (isNew) {
        port.ifindex = link.ifindex;
        port.name = link.name;
        port.routed = true;
        port.reasons.push_back(
            {"not-a-port", "it is no port of a bridge, and no packets are routed by it", {}});
    }
    if (port.profile || port.hook != Hook::xdp ||
        std::ranges::find(port.reasons, "foreign-xdp", &Reason::code) != port.reasons.end())
        return;
    port.profile = Profile{.watched = watched};
    port.profile->custom.set(TNA_HOOK_INGRESS, {steering});
}

} // namespace

bool hasManyRoutes(const model::Network& network, std::optional<unsigned> many) {
    unsigned count = 0;
    for (const auto& table : network.routes)
        if (table.family == 4 && table.table == mainTable)
            for (const auto& [type, routes] : table.byType)
                count += routes;
    return many && count >= *many;
}

Plan assemble(const model::Network& network, const capability::Capabilities& capabilities,
              const Wishes& wishes) {
    const auto around = look(network, capabilities, wishes);
    Plan plan;
    plan.wide.manyRoutes = around.manyRoutes;
    for (const auto& [ifindex, link] : network.links) {
        const auto* bridge = link.bridgePort ? network.link(link.master) : nullptr;
        if (bridge != nullptr && bridge->bridge)
            plan.ports.emplace(ifindex, PortDecision(around, link, bridge).decide());
        else if (around.underRoutedVlans.contains(ifindex) ||
                 (routes(link) && !around.routedBridges.contains(ifindex) &&
                  underRoutedVlan(network, link) == nullptr))
            plan.ports.emplace(ifindex, PortDecision(around, link, nullptr).decide());
    }
    plan.wide.flowPlaces = flowPlaces(network, plan.ports);
    plan.wide.bridgeRules = std::ranges::any_of(plan.ports, [](const auto& port) {
        return (port.second.profile && port.second.profile->bridgeRules) ||
               (port.second.behind && port.second.behind->bridgeRules);
    });
    if (plan.wide.flowPlaces.empty())
        for (auto& [ifindex, port] : plan.ports)
            for (auto* profile : {&port.profile, &port.behind})
                if (*profile)
                    (*profile)->rules = false;
    for (const auto& [ifindex, custom] : wishes.custom)
        if (const auto it = plan.ports.find(ifindex); it != plan.ports.end())
            addCustom(it->second, custom, wishes);
    for (const auto& [ifindex, steering] : wishes.steered)
        if (const auto* link = network.link(ifindex))
            addSteering(plan, *link, steering, wishes, around.watched());
    return plan;
}

} // namespace tna::assemble
