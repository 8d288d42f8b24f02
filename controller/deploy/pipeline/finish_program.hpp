// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "deploy/pipeline/pipeline_object.hpp"
#include "deploy/programs/program_template.hpp"

#include <memory>

struct finish;

namespace tna::deploy {

/// What stands behind the last custom module after a decision, and does what was decided; with the maps of
/// the pipeline that it belongs to.
class FinishProgram {
public:
    [[nodiscard]] static Result<FinishProgram> load(const PipelineObject& pipeline);

    /// To jump to.
    [[nodiscard]] int program() const;
    /// To become a part of another program.
    [[nodiscard]] Instructions instructions(const Constants& constants) const {
        return template_.instructions({}, constants);
    }

private:
    using Skeleton = std::unique_ptr<::finish, void (*)(::finish*)>;
    FinishProgram(Skeleton skeleton, ProgramTemplate copied)
        : skeleton_(std::move(skeleton)), template_(std::move(copied)) {}

    Skeleton skeleton_;
    ProgramTemplate template_;
};

} // namespace tna::deploy
