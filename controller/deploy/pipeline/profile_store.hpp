// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/manifest.hpp"
#include "base/error.hpp"
#include "deploy/custom/custom_modules.hpp"
#include "deploy/pipeline/counters.hpp"
#include "deploy/pipeline/finish_program.hpp"
#include "deploy/pipeline/flow_cache.hpp"
#include "deploy/pipeline/pipeline_object.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace tna::deploy {

/// Programs by profile: a profile is loaded for the first port that has it, as a copy of the pipeline.
class ProfileStore {
public:
    /// `constants`: what all profiles have in common. What is passed by reference must outlive it.
    ProfileStore(const PipelineObject& pipeline, const Constants& constants, FinishProgram finish,
                 FlowCache caches, CounterReader& counters);

    /// The custom modules that profiles name; those of the profiles that there are must stay among them.
    void setModules(ModulesById modules);
    [[nodiscard]] const CustomModuleSet& custom() const { return custom_; }

    /// What ports of a profile run, loaded if need be.
    [[nodiscard]] Result<int> program(const assemble::Profile& profile);
    [[nodiscard]] bool has(const assemble::Profile& profile) const { return loaded_.contains(profile); }
    [[nodiscard]] std::size_t size() const { return loaded_.size(); }
    /// But for some that may be wanted again soon, since the kernel takes tenths of a second to verify one:
    /// the only container of a network is restarted, rules come and go. Custom modules go at once.
    void dropUnused(const assemble::Plan& plan);
    static constexpr std::size_t mostUnused = 8;

    /// A copy of the pipeline that is nobody's, with caches of its own, and other maps in place of some.
    [[nodiscard]] Result<UniqueFd> loadApart(const assemble::Profile& profile, FlowCache& caches,
                                             std::map<int, int> replacedMaps) const;

private:
    /// Custom modules behind a decision that are not a part of the pipeline, and where it finds them.
    struct JumpedTo {
        UniqueFd slot;
        ModuleChain modules;
    };
    /// A profile's program, and the custom modules before it; and those behind its decisions, which are a
    /// part of it where that can be.
    struct Loaded {
        UniqueFd pipeline;
        UniqueFd finish;
        std::vector<JumpedTo> behind;
        ModuleChain ingress;
        std::uint64_t used = 0; ///< by this plan, last
        [[nodiscard]] int head() const { return ingress.empty() ? pipeline.get() : ingress.head(); }
    };
    [[nodiscard]] Constants constantsOf(const assemble::Profile& profile,
                                        const assemble::CacheSizes& sizes) const;
    [[nodiscard]] Result<Instructions> instructionsOf(const assemble::Profile& profile,
                                                      const Constants& constants,
                                                      std::map<int, int> replacedMaps);
    [[nodiscard]] Result<UniqueFd> loadJoined(const assemble::Profile& profile);
    [[nodiscard]] Result<void> loadJumping(const assemble::Profile& profile, Loaded& loaded);
    [[nodiscard]] Result<Loaded> load(const assemble::Profile& profile);

    const PipelineObject& pipeline_;
    Constants constants_;
    ProgramTemplate template_;
    FinishProgram finish_;
    FlowCache caches_;
    CounterReader& counters_;
    CustomModuleSet custom_;
    std::map<assemble::Profile, Loaded> loaded_;
    std::uint64_t plans_ = 0;
    std::set<assemble::Profile> apart_; ///< those that are not one program with their custom modules
};

} // namespace tna::deploy
