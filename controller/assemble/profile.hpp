// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/link.hpp"

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <tna/decision.h>
#include <utility>
#include <vector>

namespace tna::assemble {

/// Custom modules by hook, each by its identity, in the order in which frames pass them.
class CustomModules {
public:
    CustomModules() = default;
    CustomModules(std::initializer_list<std::pair<const tna_hook, std::vector<std::string>>> byHook)
        : byHook_(byHook) {}

    void add(tna_hook hook, const std::string& identity) { byHook_[hook].push_back(identity); }
    void set(tna_hook hook, std::vector<std::string> identities);
    /// None is an empty list.
    [[nodiscard]] const std::vector<std::string>& at(tna_hook hook) const;
    /// Hooks without modules are not in it.
    [[nodiscard]] const std::map<tna_hook, std::vector<std::string>>& byHook() const { return byHook_; }
    [[nodiscard]] bool empty() const { return byHook_.empty(); }
    auto operator<=>(const CustomModules&) const = default;

private:
    std::map<tna_hook, std::vector<std::string>> byHook_;
};

/// Where in the kernel a profile's program sees frames.
enum class Hook { xdp, tcx };

/// What a module is told, by name, as its manifest has it; what is 0 is not in it.
using Parameters = std::map<std::string, std::uint64_t>;

/// A fast-path module as a part of a profile. Modules' own headers (assemble/modules/) make them.
struct ProfileModule {
    std::string name;
    Parameters parameters;
    auto operator<=>(const ProfileModule&) const = default;
    /// 0 if it is not there.
    [[nodiscard]] std::uint64_t parameter(const std::string& called) const;
};

/// What a port's pipeline is made of. Ports with equal profiles share one program.
struct Profile {
    Hook hook = Hook::xdp;
    std::vector<ProfileModule> modules; ///< in the order in which frames meet them
    bool veth = false;                  ///< frames may still be a local sender's socket buffer
    bool brNetfilter = false;           ///< br_netfilter is present: its settings are tested for each frame
    bool rules = false;                 ///< packets may pass rules: what becomes of their flows is learnt
    bool bridgeRules = false;           ///< the same of rules of bridges (family bridge)
    bool watched = false;               ///< nothing is read in place
    bool tcxBehind = false;             ///< what is left to Linux at XDP meets the port's program at tcx
    bool trial = false;                 ///< but not when a frame is only tried
    CustomModules custom;

    auto operator<=>(const Profile&) const = default;
    [[nodiscard]] std::string name() const; ///< "bridge+vlan+veth"
    [[nodiscard]] std::vector<std::string> moduleNames() const;
    /// Null: it has no such module.
    [[nodiscard]] const ProfileModule* module(const std::string& called) const;
    /// Of one of its modules; 0 if there is no such module, or it is not told that.
    [[nodiscard]] std::uint64_t parameter(const std::string& of, const std::string& called) const;
};

/// Why something is not accelerated, and what the user can do about it.
struct Reason {
    std::string code;
    std::string text;
    std::string hint;
    bool operator==(const Reason&) const = default;
};

/// A port's part in each VLAN, as the watched pipeline finds it: two bits for each id, see tna_vlan_part of
/// tna/fastpath.h.
using VlanParts = std::array<std::uint64_t, 128>;

/// What the watched pipeline has to know of a port. Reasons are those of tna/reasons.h, TNA_REASON_COUNT for
/// none.
struct WatchedPort {
    model::IfIndex bridge = 0;
    unsigned ingressReason = 0; ///< why its frames are left to Linux
    unsigned egressReason = 0;  ///< why frames that would leave by it are
    unsigned tagReason = 0;     ///< why its tagged frames are left to Linux
    bool needsProgram = false;  ///< frames may leave by it only while it has a program of ours
    bool isolated = false;
    bool learns = false;                ///< Linux learns stations on it
    std::uint32_t maxFrame = 0;         ///< in bytes
    std::uint32_t minFrame = 0;         ///< likewise
    std::chrono::nanoseconds refresh{}; ///< so often Linux gets a frame of each station
    std::uint16_t vlanProtocol = 0;     ///< EtherType of the tags that its bridge filters by; 0: it does not
    std::uint16_t pvid = 0;             ///< the VLAN of frames without a tag; 0: none
    VlanParts vlans{};
    bool operator==(const WatchedPort&) const = default;
};

/// What is to be done with one port.
struct PortPlan {
    model::IfIndex ifindex = 0;
    std::string name;
    bool routed = false;            ///< it belongs to no bridge, and packets are routed to and from it
    std::optional<Profile> profile; ///< attach this; nothing: the port's own frames stay with Linux
    /// Without a profile only because of what the bridge is set to: if a program is attached it stays,
    /// empty, because attaching again takes 10 ms and a new profile 50 us.
    bool standby = false;
    Hook hook = Hook::xdp;                  ///< where its own frames are seen first
    bool wouldMove = false;                 ///< at tcx, but steering would have it at XDP
    std::optional<Profile> behind;          ///< at tcx, for what XDP leaves to Linux
    std::string hookWhy;                    ///< why not at XDP, or not there alone; or why there alone
    bool egress = false;                    ///< frames may be redirected to it, at XDP
    bool tcxEgress = false;                 ///< the same at tcx
    unsigned shortest = 0;                  ///< bytes; shorter frames may not, because Linux would pad them
    std::optional<Reason> egressReason;     ///< why its device is none that frames may be redirected to
    std::vector<std::string> egressModules; ///< custom modules that frames pass as they leave by it
    std::optional<WatchedPort> watched;
    std::vector<Reason> reasons; ///< why it is not accelerated
    /// A profile without a module of the fast path is there to steer frames to network functions: all others
    /// stay with Linux.
    [[nodiscard]] bool accelerated() const { return profile && !profile->modules.empty(); }
    bool operator==(const PortPlan&) const = default;
};

/// What the fast path may do with packets at a device.
struct FlowPlace {
    bool comes = false;  ///< forward those that come by it
    bool leaves = false; ///< have them leave by it
    bool operator==(const FlowPlace&) const = default;
};
using FlowPlaces = std::map<model::IfIndex, FlowPlace>;

/// What is decided for a namespace as a whole, not for a port.
struct NamespacePlan {
    bool manyRoutes = false;  ///< what destinations are routed by is remembered, see hasManyRoutes()
    FlowPlaces flowPlaces;    ///< between which connections that pass rules are learnt, see flowPlaces()
    bool bridgeRules = false; ///< what passes rules of bridges is learnt
    bool operator==(const NamespacePlan&) const = default;
};

/// What is to be done in a namespace; links that are neither bridge ports nor routed are not in it.
struct Plan {
    NamespacePlan wide;
    std::map<model::IfIndex, PortPlan> ports;
    bool operator==(const Plan&) const = default;
};

} // namespace tna::assemble
