// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "deploy/pipeline/pipeline_object.hpp"
#include "deploy/programs/program_template.hpp"

#include <memory>

namespace tna::deploy {

/// What stands behind the last custom module after a decision, and does what was decided; with the maps of
/// the pipeline that it belongs to.
class FinishProgram {
public:
    [[nodiscard]] static Result<FinishProgram> load(const PipelineObject& pipeline);

    /// To jump to.
    [[nodiscard]] Result<UniqueFd> program(const Constants& constants) const {
        return template_.load({}, constants);
    }
    /// To become a part of another program.
    [[nodiscard]] Instructions instructions(const Constants& constants) const {
        return template_.instructions({}, constants);
    }

private:
    using Skeleton = std::unique_ptr<void, void (*)(void*)>;
    FinishProgram(Skeleton skeleton, ProgramTemplate copied)
        : skeleton_(std::move(skeleton)), template_(std::move(copied)) {}
    template <typename Generated>
    [[nodiscard]] static Result<FinishProgram> loadGenerated(const PipelineObject& pipeline);

    Skeleton skeleton_;
    ProgramTemplate template_;
};

} // namespace tna::deploy
