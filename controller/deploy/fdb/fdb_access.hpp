// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "deploy/pipeline/pipeline_object.hpp"
#include "deploy/results/applied.hpp"
#include "deploy/results/fdb_control.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace tna::deploy {

/// What maps name a port by, and whether a profile is in place there.
struct PlaceOfPort {
    unsigned slot = 0;
    bool hasProgram = false;
};
using FindPlace = std::function<std::optional<PlaceOfPort>(model::IfIndex)>;

/// How a pipeline learns what the bridge knows: its stations (the FDB), and what its ports are set to. There
/// are three ways: each frame reads the kernel in place; it asks the bridge by a kernel function, and the
/// controller tells what that does not answer; or the controller mirrors all of it.
class FdbAccess : public FdbControl {
public:
    /// As the configuration calls it: "in-place", "kfunc" or "mirror".
    [[nodiscard]] virtual const char* name() const = 0;
    /// Whether frames see all of it in the kernel themselves: then nothing has to be told to the pipeline,
    /// and it is always open.
    [[nodiscard]] virtual bool seesEveryFrame() const { return false; }
    [[nodiscard]] StationTable* mirror() override { return nullptr; }

    /// Tells the pipeline what a plan says of ports.
    virtual void tell(const assemble::Plan& plan, const FindPlace& placeOf, Applied& applied) = 0;
    /// Takes back what it was told of a port.
    virtual void forget(model::IfIndex ifindex) = 0;
};

[[nodiscard]] std::unique_ptr<FdbAccess> readFdbInPlace();
/// For the pipeline that asks the bridge. It is open from the start: the bridge knows all that Linux knows.
[[nodiscard]] Result<std::unique_ptr<FdbAccess>> askBridge(const PipelineObject& pipeline, unsigned maxPorts);
/// For the watched pipeline. It is closed until it is opened.
[[nodiscard]] Result<std::unique_ptr<FdbAccess>> mirrorFdb(const PipelineObject& pipeline, unsigned maxPorts,
                                                           unsigned maxStations);

} // namespace tna::deploy
