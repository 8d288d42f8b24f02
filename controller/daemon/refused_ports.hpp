// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/assemble.hpp"
#include "daemon/reporter.hpp"
#include "deploy/results/data_path.hpp"

namespace tna::daemon {

/// Ports whose drivers have refused redirected frames, which nobody else is told of: nothing is redirected to
/// them any more until their link has been down, or the operator says so.
class RefusedPorts {
public:
    /// Begins to look before frames may be redirected to a device whose driver may refuse them. Whether
    /// something is to be decided anew: it cannot be seen.
    [[nodiscard]] bool watch(const deploy::DataPath& dataPath, const assemble::Plan& plan,
                             const model::Network& network);
    /// Whether something is different since the last time; tells of it.
    [[nodiscard]] bool follow(const model::Network& network, Reporter& reporter);
    /// Believes all of them again.
    void forget();
    /// Another fast path is in place, which is to be looked at.
    void startOver();

    /// Why nothing is redirected to a port.
    [[nodiscard]] const std::map<model::IfIndex, assemble::Reason>& reasons() const { return reasons_; }
    /// Why that cannot be seen here, if it cannot.
    [[nodiscard]] const std::optional<std::string>& blind() const { return blind_; }

private:
    std::unique_ptr<deploy::RefusalLog> refusals_;
    std::optional<std::string> blind_;
    std::map<model::IfIndex, assemble::Reason> reasons_;
};

} // namespace tna::daemon
