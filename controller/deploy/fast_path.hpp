// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "base/error.hpp"
#include "deploy/counters.hpp"
#include "deploy/data_path.hpp"
#include "deploy/flow_cache.hpp"
#include "deploy/kernel_probe.hpp"
#include "deploy/module_chain.hpp"
#include "deploy/pipeline_object.hpp"
#include "deploy/port_attachment.hpp"
#include "deploy/program_template.hpp"
#include "deploy/refusals.hpp"
#include "deploy/station_mirror.hpp"
#include "deploy/watched_ports.hpp"
#include "model/network.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

struct entry;
struct finish;

namespace tna::deploy {

struct Limits {
    unsigned maxPorts = 1024;
    unsigned flowsPerCpu = 16384; ///< a power of two
    unsigned maxStations = 131072;
    unsigned destinations = 4194304;                            ///< of all CPUs
    std::chrono::milliseconds refresh = std::chrono::hours(24); ///< so old is a station's entry at most
    unsigned selfCheck = 1024; ///< one packet in so many is decided twice, a power of two; 0: none
};

/// Addresses of br_netfilter's hook functions (pre-routing, forward, post-routing), AppArmor's, and
/// br_netfilter's at local-in and at IPv4's pre-routing; 0 if not there.
using HookFunctions = std::array<std::uint64_t, 6>;

/// The fast path of one network namespace: shared maps, one program per profile, one attachment per
/// port.
class FastPath : public DataPath {
public:
    [[nodiscard]] static Result<std::unique_ptr<FastPath>>
    load(const Limits& limits, const NamespaceFacts& facts, const HookFunctions& hooks, Casts casts);
    /// The same for kernels that are not read in place.
    [[nodiscard]] static Result<std::unique_ptr<FastPath>> loadWatched(const Limits& limits,
                                                                       Buffers buffers = buffersOfKernel());
    /// The same, where the bridge can be asked for stations (kernel-patches/).
    [[nodiscard]] static Result<std::unique_ptr<FastPath>> loadAsking(const Limits& limits);
    FastPath(const FastPath&) = delete;
    FastPath& operator=(const FastPath&) = delete;
    ~FastPath() override;

    void setModules(ModulesById modules) override {
        modules_ = std::move(modules);
        apart_.clear();
    }

    [[nodiscard]] Applied apply(const assemble::Plan& plan, const model::Network& network) override;
    [[nodiscard]] std::map<model::IfIndex, PortCounters> counters() override;
    [[nodiscard]] bool anyCut() const override {
        return std::ranges::any_of(attachments_, [](const auto& item) { return !item.second.alive(); });
    }
    [[nodiscard]] bool attached(model::IfIndex ifindex) const override {
        return attachments_.contains(ifindex) || inherited_.contains(ifindex);
    }
    [[nodiscard]] std::size_t programs() const { return profiles_.size(); }
    [[nodiscard]] std::vector<UniqueFd> handOver() override;
    void inherit(std::vector<UniqueFd> links) override;
    [[nodiscard]] bool settled() const override;
    void settleNext() override;
    [[nodiscard]] Result<std::unique_ptr<RefusalLog>> watchRefusals() const override {
        return Refusals::watch(pipeline_, limits_.maxPorts);
    }
    void forgetFlows() const override;
    [[nodiscard]] std::optional<Disagreement> disagreement() const override;
    [[nodiscard]] std::vector<std::string> mistrusted() const override;
    void trust() const override;
    [[nodiscard]] Mistrust mistrust() const override;
    void mistrustAs(const Mistrust& other) const override;
    [[nodiscard]] StationMirror* mirror() override {
        return watched_ && watched_->stations ? &*watched_->stations : nullptr;
    }
    void open(bool informed) override;
    [[nodiscard]] Result<Verdict> tryFrame(model::IfIndex port,
                                           const std::vector<std::uint8_t>& frame) const override;

    /// A profile's program, loaded if need be (tests run it without a port).
    [[nodiscard]] Result<int> program(const assemble::Profile& profile);
    /// Makes a device known as ingress of the fast path, and as egress of frames that are not shorter than
    /// that (TNA_NO_EGRESS: of none).
    [[nodiscard]] Result<void> addSlot(model::IfIndex ifindex, unsigned shortest = 0);

private:
    /// A profile's program, and the custom modules before it; and those behind it, which are a part of it
    /// where that can be.
    struct LoadedProfile {
        UniqueFd pipeline;
        UniqueFd bridgeSlot; ///< where the pipeline finds modules that are not a part of it
        UniqueFd routeSlot;
        ModuleChain ingress;
        ModuleChain bridge;
        ModuleChain route;
        [[nodiscard]] int head() const { return ingress.empty() ? pipeline.get() : ingress.head(); }
    };
    [[nodiscard]] Result<Instructions>
    pipelineOf(const assemble::Profile& profile, const Constants& constants, std::map<int, int> replacedMaps);
    [[nodiscard]] bool anyOf(const assemble::CustomModules& custom,
                             bool (ModuleObject::*does)(tna_hook) const) const;
    [[nodiscard]] Result<UniqueFd> loadJoined(const assemble::Profile& profile);
    [[nodiscard]] Result<void> loadJumping(const assemble::Profile& profile, LoadedProfile& loaded);
    [[nodiscard]] Result<LoadedProfile> loadProfile(const assemble::Profile& profile);
    using Modules = std::vector<std::shared_ptr<const ModuleObject>>;
    [[nodiscard]] Result<Modules> modulesOf(const std::vector<std::string>& ids) const;
    [[nodiscard]] SharedMaps mapsForModules() const;
    [[nodiscard]] Result<ModuleChain> chain(const std::vector<std::string>& modules, tna_hook hook,
                                            int last) const;
    [[nodiscard]] Result<void> setEgress(unsigned slot, model::IfIndex ifindex,
                                         const ModuleChain* modules) const;
    [[nodiscard]] Result<void> placeAtEgress(model::IfIndex ifindex, const std::vector<std::string>& modules);
    void placeEgressModules(const assemble::Plan& plan, Applied& applied);
    [[nodiscard]] Constants constantsOf(const assemble::Profile& profile, const FlowCache& flows) const;
    struct Watched {
        WatchedPorts ports;
        std::optional<StationMirror> stations;
    };
    FastPath(PipelineObject pipeline, ::entry* entry, ::finish* finish, Constants constants, Limits limits,
             FlowCache flows, CounterReader counters, UniqueFd passAll);
    [[nodiscard]] static Result<std::unique_ptr<FastPath>> make(const Limits& limits, PipelineObject pipeline,
                                                                Constants constants);
    [[nodiscard]] static ::finish* loadFinish(const PipelineObject& pipeline);
    static void unloadFinish(::finish* finish);
    void watchPorts(const assemble::Plan& plan, Applied& applied);
    void removeSlot(model::IfIndex ifindex);
    void dropUnplanned(const assemble::Plan& plan, Applied& applied);
    [[nodiscard]] Result<void> place(const assemble::PortPlan& port, const model::Link& link,
                                     Applied& applied);
    [[nodiscard]] Result<PortAttachment*> attachment(const assemble::PortPlan& port, const model::Link& link,
                                                     Applied& applied);
    [[nodiscard]] std::optional<PortAttachment> adopt(model::IfIndex ifindex, const Entry& entry);
    [[nodiscard]] Result<const Entry*> sharedEntry(const assemble::Profile& profile, int program);
    [[nodiscard]] Result<void> takeOwnEntry(PortAttachment& attachment, int program);
    [[nodiscard]] bool emptied(PortAttachment& attachment, Applied& applied);
    void dropUnusedProfiles(const assemble::Plan& plan);
    [[nodiscard]] bool slotAlive(model::IfIndex ifindex) const;
    [[nodiscard]] bool slotFits(const assemble::PortPlan& port) const;
    [[nodiscard]] static unsigned shortestOut(const assemble::PortPlan& port);
    void askAboutShort() const;

    PipelineObject pipeline_;
    ::entry* entry_;
    ::finish* finish_; ///< behind the last custom module after a decision
    ProgramTemplate pipelineTemplate_;
    ProgramTemplate entryTemplate_;
    ProgramTemplate finishTemplate_;
    Constants constants_; ///< what all profiles have in common
    Limits limits_;
    FlowCache flows_;
    std::optional<Watched> watched_;
    CounterReader counterReader_;
    UniqueFd passAll_; ///< the profile of ports that are left to Linux, but stay attached
    ModulesById modules_;
    std::map<assemble::Profile, LoadedProfile> profiles_;
    std::set<assemble::Profile> apart_; ///< those that are not one program with their custom modules
    std::map<std::vector<std::string>, ModuleChain> egressChains_;
    std::map<model::IfIndex, std::vector<std::string>> egressPlaced_;
    std::map<assemble::Profile, Entry> sharedEntries_;
    std::map<model::IfIndex, PortAttachment> attachments_;
    std::map<model::IfIndex, UniqueFd> inherited_; ///< links, before they have become attachments
    std::map<model::IfIndex, assemble::Profile> placed_;
    std::map<model::IfIndex, unsigned> slots_;
    std::map<model::IfIndex, unsigned> shortest_; ///< of frames that leave by them
    std::set<unsigned> freeSlots_;                ///< given back; used again only when no fresh one is left
    unsigned nextSlot_ = 0;
    bool cannotSettle_ = false; ///< changing profiles stays slow
};

} // namespace tna::deploy
