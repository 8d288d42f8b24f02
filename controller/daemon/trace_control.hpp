// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/backend.hpp"
#include "daemon/supervisor.hpp"

#include <set>

namespace tna::daemon {

/// Puts tracers in the path of packets, and takes them out. Loading one takes its time, and comes between
/// check() and begin(), without a lock.
class TraceControl {
public:
    TraceControl(Supervisor& supervisor, Wanted& wanted)
        : supervisor_(supervisor), modules_(wanted.modules) {}

    /// Why nothing could be seen of a port, or of all of them.
    [[nodiscard]] Result<void> check(const std::optional<std::string>& port) const;
    /// The name of the trace, for end().
    [[nodiscard]] Result<std::string> begin(const std::shared_ptr<const deploy::ModuleObject>& module,
                                            const api::TraceWish& wish);
    void end(const std::string& name);

private:
    void takeOut(const std::string& name);

    Supervisor& supervisor_;
    CustomModules& modules_;
    std::set<std::string> traces_; ///< by the names of their modules
    unsigned last_ = 0;
};

} // namespace tna::daemon
