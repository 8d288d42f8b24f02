// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "base/error.hpp"
#include "deploy/fdb/fdb_access.hpp"
#include "deploy/known_ports.hpp"
#include "deploy/pipeline/counters.hpp"
#include "deploy/pipeline/pipeline_object.hpp"
#include "deploy/pipeline/pipeline_self_check.hpp"
#include "deploy/pipeline/profile_store.hpp"
#include "deploy/pipeline/spared_filters.hpp"
#include "deploy/ports/attachments.hpp"
#include "deploy/results/data_path.hpp"
#include "deploy/trial.hpp"
#include "model/network.hpp"

#include <map>
#include <memory>
#include <vector>

namespace tna::deploy {

/// What a fast path is put together from (deploy/load_fast_path.hpp). Some are at places that stay, because
/// others refer to them.
struct FastPathParts {
    std::unique_ptr<PipelineObject> pipeline;
    std::unique_ptr<CounterReader> counters;
    std::unique_ptr<FdbAccess> fdb;
    std::unique_ptr<ProfileStore> profiles;
    std::unique_ptr<RuleLearning> ruleLearning;
    KnownPorts ports;
    Attachments attachments;
};

/// The fast path of one network namespace at one hook, put together: the pipeline and how it learns the FDB,
/// the ports that it knows, programs by profile, what is attached to ports. apply() is what it is for.
class FastPath : public DataPath {
public:
    explicit FastPath(FastPathParts parts);
    FastPath(const FastPath&) = delete;
    FastPath& operator=(const FastPath&) = delete;
    ~FastPath() override = default;

    void setModules(ModulesById modules) override { profiles_->setModules(std::move(modules)); }
    [[nodiscard]] Applied apply(const assemble::Plan& plan, const model::Network& network) override;
    [[nodiscard]] std::map<model::IfIndex, PortCounters> counters() override { return ports_.counters(); }
    [[nodiscard]] std::map<model::IfIndex, std::uint64_t> leftToLinux() const override {
        return ports_.leftToLinux();
    }
    [[nodiscard]] bool anyCut() const override { return attachments_.anyCut() || ports_.slots().anyGone(); }
    [[nodiscard]] bool attached(model::IfIndex ifindex) const override { return attachments_.has(ifindex); }
    [[nodiscard]] AttachedPrograms& attachedPrograms() override { return attachments_; }

    [[nodiscard]] Result<std::unique_ptr<RefusalLog>> watchRefusals() const override;
    [[nodiscard]] const RuleLearning& ruleLearning() const override { return *ruleLearning_; }
    [[nodiscard]] const SelfCheck& selfCheck() const override { return selfCheck_; }
    [[nodiscard]] FdbAccess& fdb() override { return *fdb_; }
    void forgetFlows() const override { pipeline_->forgetFlows(); }
    void spare(const std::vector<model::PacketFilter>& filters) override { spared_.set(filters); }

    /// See deploy/trial.hpp.
    [[nodiscard]] Result<Verdict> tryFrame(model::IfIndex port,
                                           const std::vector<std::uint8_t>& frame) const override;

    /// A profile's program, loaded if need be (tests run it without a port).
    [[nodiscard]] Result<int> program(const assemble::Profile& profile) {
        return profiles_->program(profile);
    }
    [[nodiscard]] KnownPorts& ports() { return ports_; }
    [[nodiscard]] const PipelineObject& pipeline() const { return *pipeline_; }

private:
    void placePorts(const assemble::Plan& plan, const model::Network& network, Applied& applied);
    [[nodiscard]] std::optional<PlaceOfPort> placeOf(model::IfIndex ifindex) const;

    std::unique_ptr<PipelineObject> pipeline_;
    std::unique_ptr<CounterReader> counters_;
    std::unique_ptr<FdbAccess> fdb_;
    std::unique_ptr<ProfileStore> profiles_;
    std::unique_ptr<RuleLearning> ruleLearning_;
    PipelineSelfCheck selfCheck_;
    SparedFilters spared_;
    KnownPorts ports_;
    Attachments attachments_; ///< goes first: nothing runs any more when the others go
};

} // namespace tna::deploy
