// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "base/error.hpp"
#include "deploy/applied.hpp"
#include "deploy/counters.hpp"
#include "deploy/fdb_access.hpp"
#include "deploy/flow_cache.hpp"
#include "deploy/kernel_probe.hpp"
#include "deploy/module_chain.hpp"
#include "deploy/pipeline_object.hpp"
#include "deploy/port_attachment.hpp"
#include "deploy/program_template.hpp"
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

/// What the fast path would do with a frame.
struct Verdict {
    std::optional<model::IfIndex> egress; ///< the port it would leave by; nothing: it is left to Linux
    std::string code;                     ///< why it is left to Linux, as in tna/reasons.h; may be empty
    std::string text;
    std::vector<std::uint8_t> frame; ///< as it would leave
};

/// What the self-check has found: what is fast and what is sure disagree about a packet.
struct Disagreement {
    std::string module; ///< "bridge" or "route"
    model::IfIndex arrival = 0;
    std::string from;
    std::string to;
    struct Answer {
        model::IfIndex egress = 0; ///< 0: it is left to Linux, or not forwarded
        std::string gateway;       ///< of routes; or the destination itself
    };
    Answer ours;
    Answer kernel;
    std::string reason; ///< for which a bridged frame would be left to Linux; may be empty
};

/// The fast path of one network namespace: shared maps, one program per profile, one attachment per
/// port.
class FastPath {
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
    ~FastPath();

    /// The custom modules that plans name, by identity; those of the plan in place must stay among them.
    void setModules(ModulesById modules) {
        modules_ = std::move(modules);
        apart_.clear();
    }

    /// Makes the namespace as the plan wants it. A port that fails is left to Linux; the others go on.
    [[nodiscard]] Applied apply(const assemble::Plan& plan, const model::Network& network);

    [[nodiscard]] std::map<model::IfIndex, PortCounters> counters();
    /// Whether somebody else has detached something of ours, or its device is gone.
    [[nodiscard]] bool anyCut() const {
        return std::ranges::any_of(attachments_, [](const auto& item) { return !item.second.alive(); });
    }
    [[nodiscard]] bool attached(model::IfIndex ifindex) const {
        return attachments_.contains(ifindex) || inherited_.contains(ifindex);
    }
    [[nodiscard]] std::size_t programs() const { return profiles_.size(); }

    /// What is attached, for another pipeline or process to go on with: until then all is left to Linux.
    [[nodiscard]] std::vector<UniqueFd> handOver();
    /// Takes it; what the next plan has no use for is detached then.
    void inherit(std::vector<UniqueFd> links);

    /// Whether changing the profile of any port is fast by now; if not, settleNext() does more for it.
    [[nodiscard]] bool settled() const;
    /// Gives one more port an entry program of its own.
    void settleNext();

    /// Makes every flow prove itself from nothing, once.
    void forgetFlows() const;

    /// Why the self-check has paused modules.
    [[nodiscard]] std::optional<Disagreement> disagreement() const;
    /// The modules that it has paused.
    [[nodiscard]] std::vector<std::string> mistrusted() const;
    /// All are believed again; or those not that another fast path did not believe.
    void trust() const;
    void mistrustAs(const FastPath& other) const;

    /// How it learns what the bridge knows, and what is to be told to it.
    [[nodiscard]] FdbAccess& fdb() { return *fdb_; }
    [[nodiscard]] const FdbAccess& fdb() const { return *fdb_; }
    [[nodiscard]] StationMirror* mirror() { return fdb_->mirror(); }
    void open(bool informed) { fdb_->open(informed); }

    /// A profile's program, loaded if need be (tests run it without a port).
    [[nodiscard]] Result<int> program(const assemble::Profile& profile);
    /// Runs a port's program on a frame as if it had come in there, finished and in one buffer. Nothing is
    /// sent, counted, or remembered.
    [[nodiscard]] Result<Verdict> tryFrame(model::IfIndex port, const std::vector<std::uint8_t>& frame) const;
    /// Makes a device known as ingress of the fast path, and as egress of frames that are not shorter than
    /// that (TNA_NO_EGRESS: of none).
    [[nodiscard]] Result<void> addSlot(model::IfIndex ifindex, unsigned shortest = 0);

private:
    /// Custom modules behind a decision that are not a part of the pipeline, and where it finds them.
    struct JumpedTo {
        UniqueFd slot;
        ModuleChain modules;
    };
    /// A profile's program, and the custom modules before it; and those behind its decisions, which are a
    /// part of it where that can be.
    struct LoadedProfile {
        UniqueFd pipeline;
        std::vector<JumpedTo> behind;
        ModuleChain ingress;
        [[nodiscard]] int head() const { return ingress.empty() ? pipeline.get() : ingress.head(); }
    };
    [[nodiscard]] Result<Instructions>
    pipelineOf(const assemble::Profile& profile, const Constants& constants, std::map<int, int> replacedMaps);
    [[nodiscard]] bool anyOf(const assemble::Profile& profile,
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
    [[nodiscard]] Constants constantsOf(const assemble::Profile& profile,
                                        const assemble::CacheSizes& sizes) const;
    FastPath(PipelineObject pipeline, ::entry* entry, ::finish* finish, Constants constants, Limits limits,
             FlowCache flows, CounterReader counters, UniqueFd passAll, std::unique_ptr<FdbAccess> fdb);
    [[nodiscard]] static Result<std::unique_ptr<FastPath>>
    make(const Limits& limits, PipelineObject pipeline, Constants constants, std::unique_ptr<FdbAccess> fdb);
    [[nodiscard]] static ::finish* loadFinish(const PipelineObject& pipeline);
    static void unloadFinish(::finish* finish);
    [[nodiscard]] std::optional<PlaceOfPort> placeOf(model::IfIndex ifindex) const;
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
    std::unique_ptr<FdbAccess> fdb_;
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
