// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "base/error.hpp"
#include "deploy/fdb/fdb_access.hpp"
#include "deploy/kernel/kernel_probe.hpp"
#include "deploy/pipeline/counters.hpp"
#include "deploy/pipeline/pipeline_object.hpp"
#include "deploy/pipeline/profile_store.hpp"
#include "deploy/pipeline/self_check.hpp"
#include "deploy/pipeline/spared_filters.hpp"
#include "deploy/ports/attachments.hpp"
#include "deploy/ports/egress_modules.hpp"
#include "deploy/ports/slot_table.hpp"
#include "deploy/results/data_path.hpp"
#include "deploy/trial.hpp"
#include "model/network.hpp"

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tna::deploy {

struct Limits {
    unsigned maxPorts = 1024;
    unsigned flowsPerCpu = 16384; ///< a power of two
    unsigned maxStations = 131072;
    unsigned destinations = 4194304; ///< of all CPUs
    std::chrono::milliseconds refresh =
        std::chrono::hours(24); ///< so old is the entry of a station or connection in use at most
    unsigned selfCheck = 1024;  ///< one packet in so many is decided twice, a power of two; 0: none
    unsigned connections = 1;   ///< that are learnt where there are rules
};

/// Addresses of br_netfilter's hook functions (pre-routing, forward, post-routing), AppArmor's, and
/// br_netfilter's at local-in and at IPv4's pre-routing, and those of flowtables; 0 if not there.
using HookFunctions = std::array<std::uint64_t, 9>;

/// The fast path of one network namespace, put together: the pipeline and how it learns the FDB, devices'
/// slots, programs by profile, what is attached to ports, custom modules at egress. apply() is what it is
/// for.
class FastPath : public DataPath {
public:
    [[nodiscard]] static Result<std::unique_ptr<FastPath>>
    load(const Limits& limits, const NamespaceFacts& facts, const HookFunctions& hooks, Casts casts);
    /// The one at tcx beside the one at XDP, which is `other`: the same flows of rules are known to both.
    [[nodiscard]] static Result<std::unique_ptr<FastPath>> loadTcx(const Limits& limits,
                                                                   const NamespaceFacts& facts,
                                                                   const HookFunctions& hooks, Casts casts,
                                                                   const FastPath& other);
    /// The same for kernels that are not read in place.
    [[nodiscard]] static Result<std::unique_ptr<FastPath>> loadWatched(const Limits& limits,
                                                                       Buffers buffers = buffersOfKernel());
    /// The same, where the bridge can be asked for stations (kernel-patches/).
    [[nodiscard]] static Result<std::unique_ptr<FastPath>> loadAsking(const Limits& limits);
    FastPath(const FastPath&) = delete;
    FastPath& operator=(const FastPath&) = delete;
    ~FastPath() override = default;

    void setModules(ModulesById modules) override { profiles_.setModules(std::move(modules)); }
    [[nodiscard]] Applied apply(const assemble::Plan& plan, const model::Network& network) override;
    [[nodiscard]] std::map<model::IfIndex, PortCounters> counters() override;
    [[nodiscard]] std::map<model::IfIndex, std::uint64_t> leftToLinux() const override;
    [[nodiscard]] Result<std::unique_ptr<RefusalLog>> watchRefusals() const override;
    [[nodiscard]] Result<std::unique_ptr<ConnectionLearner>> learnConnections() const override;
    [[nodiscard]] Result<std::unique_ptr<BridgeRuleLearner>> learnBridgeRules() const override;
    void forgetFlows() const override { pipeline_->forgetFlows(); }

    /// How it learns what the bridge knows, and what is to be told to it.
    [[nodiscard]] FdbAccess& fdb() { return *fdb_; }
    [[nodiscard]] StationTable* mirror() override { return fdb_->mirror(); }
    void open(bool informed) override { fdb_->open(informed); }

    // See Attachments.
    [[nodiscard]] bool anyCut() const override { return attachments_.anyCut() || slots_.anyGone(); }
    [[nodiscard]] bool attached(model::IfIndex ifindex) const override { return attachments_.has(ifindex); }
    [[nodiscard]] bool settled() const override { return attachments_.settled(); }
    void settleNext() override { attachments_.settleNext(profiles_); }
    [[nodiscard]] std::vector<UniqueFd> handOver() override { return attachments_.handOver(); }
    void inherit(std::vector<UniqueFd> links) override { attachments_.inherit(std::move(links)); }

    void spare(const std::vector<model::PacketFilter>& filters) override { spared_.set(filters); }

    // See SelfCheck.
    [[nodiscard]] std::optional<Disagreement> disagreement() const override {
        return selfCheck_.disagreement();
    }
    [[nodiscard]] std::vector<std::string> mistrusted() const override { return selfCheck_.mistrusted(); }
    void trust() const override { selfCheck_.trust(); }
    [[nodiscard]] Mistrust mistrust() const override { return selfCheck_.mistrust(); }
    void mistrustAs(const Mistrust& other) const override { selfCheck_.mistrustAs(other); }

    /// See deploy/trial.hpp.
    [[nodiscard]] Result<Verdict> tryFrame(model::IfIndex port,
                                           const std::vector<std::uint8_t>& frame) const override;

    /// A profile's program, loaded if need be (tests run it without a port).
    [[nodiscard]] Result<int> program(const assemble::Profile& profile) { return profiles_.program(profile); }
    /// Makes a device known as ingress of the fast path, and as egress of frames that are not shorter than
    /// that (TNA_NO_EGRESS: of none).
    [[nodiscard]] Result<void> addSlot(model::IfIndex ifindex, unsigned shortest = 0);

private:
    /// At places that stay, because the others refer to them.
    using Pipeline = std::unique_ptr<PipelineObject>;
    using Counters = std::unique_ptr<CounterReader>;
    FastPath(Pipeline pipeline, Counters counters, std::unique_ptr<FdbAccess> fdb, unsigned maxPorts,
             ProfileStore profiles, Attachments attachments, Presences presences);
    [[nodiscard]] static Result<std::unique_ptr<FastPath>>
    makeInPlace(const Limits& limits, const NamespaceFacts& facts, const HookFunctions& hooks, Casts casts,
                Result<PipelineObject> pipeline);
    [[nodiscard]] static Result<std::unique_ptr<FastPath>> make(const Limits& limits, PipelineObject pipeline,
                                                                const Constants& constants,
                                                                std::unique_ptr<FdbAccess> fdb);
    void removeSlot(model::IfIndex ifindex);
    void placePorts(const assemble::Plan& plan, const model::Network& network, Applied& applied);
    void placeEgressModules(const assemble::Plan& plan, Applied& applied);
    [[nodiscard]] std::optional<PlaceOfPort> placeOf(model::IfIndex ifindex) const;

    Pipeline pipeline_;
    std::optional<Casts> casts_;    ///< where the kernel is read in place
    std::uint64_t net_ = 0;         ///< the namespace, there
    std::uint64_t brNetfilter_ = 0; ///< and br_netfilter's settings of it
    std::uint64_t refresh_ = 0;     ///< of connections, in jiffies
    Counters counters_;
    std::unique_ptr<FdbAccess> fdb_;
    SlotTable slots_;
    SelfCheck selfCheck_;
    SparedFilters spared_;
    ProfileStore profiles_;
    EgressModules egressModules_;
    Attachments attachments_; ///< goes first: nothing runs any more when the others go
};

} // namespace tna::deploy
