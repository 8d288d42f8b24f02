// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/current_path.hpp"
#include "daemon/observer.hpp"
#include "daemon/planner.hpp"
#include "daemon/self_check.hpp"

#include <functional>

namespace tna::daemon {

/// Keeps the fast path of a namespace as Linux is configured and the operator wants it: has the network read,
/// what is not announced looked for, and what comes of it planned and put in place. Not thread safe.
class Supervisor {
public:
    using Clock = Planner::Clock;

    Supervisor(std::unique_ptr<Kernel> kernel, std::unique_ptr<introspect::NetworkSource> source,
               const Wanted& wanted, Reporter& reporter, Clock clock = std::chrono::steady_clock::now);

    /// Readable when onReadable() has something to do; `source` is one of those that make it so.
    [[nodiscard]] Result<void> watch(int source) { return path_.watch(source); }
    [[nodiscard]] int pollFd() const { return path_.pollFd(); }
    /// Puts the first plan in place, and goes on with what is attached already.
    [[nodiscard]] Result<void> start(std::vector<UniqueFd> inherited);
    /// Takes in what was announced, and acts on it.
    [[nodiscard]] Result<void> onReadable();
    /// At each interval: what is not announced.
    [[nodiscard]] std::chrono::milliseconds interval() const { return path_.way().interval(); }
    void onInterval();

    /// What the operator wants has changed.
    void reconcile();
    /// So have the custom modules. Where a port then cannot be what it is to be, `undo` takes that back, they
    /// are what they were before, and the answer says why.
    [[nodiscard]] Result<void> useModulesOrUndo(const std::function<void()>& undo);
    void useModules() { path_.useModules(); }
    /// Nothing that was read before is believed.
    void readAllAgain();
    /// The modules that the self-check has paused go on.
    void trustAgain() { selfCheck_.trustAgain(path_.dataPath()); }

    [[nodiscard]] const introspect::NetworkSource& source() const { return *source_; }
    [[nodiscard]] const model::Network& network() const { return source_->network(); }
    [[nodiscard]] const Observed& observed() const { return observed_; }
    [[nodiscard]] const assemble::Plan& plan() const { return planner_.plan(); }
    [[nodiscard]] const Failures& failures() const { return planner_.failures(); }
    [[nodiscard]] const Connections& connections() const { return planner_.connections(); }
    [[nodiscard]] const Way& way() const { return path_.way(); }
    [[nodiscard]] deploy::DataPath& dataPath() const { return path_.dataPath(); }

private:
    Reporter& reporter_;
    Clock clock_;
    std::unique_ptr<Kernel> kernel_;
    std::unique_ptr<introspect::NetworkSource> source_;
    Observed observed_;
    CurrentPath path_;
    Observer observer_;
    SelfCheck selfCheck_;
    Planner planner_;
};

} // namespace tna::daemon
