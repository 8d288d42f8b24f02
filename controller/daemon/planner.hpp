// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/connections.hpp"
#include "daemon/current_path.hpp"
#include "daemon/reconciler.hpp"
#include "daemon/refused_ports.hpp"
#include "daemon/resting_ports.hpp"

#include <functional>

namespace tna::daemon {

/// Plans what the fast path is to be for the network as it was read, and has that put in place; again, where
/// this changes what the plan was made from: connections that are learnt need room, and ports whose drivers
/// refuse frames are others.
class Planner {
public:
    using Time = std::chrono::steady_clock::time_point;
    using Clock = std::function<Time()>;

    /// What is passed by reference must outlive it.
    Planner(Kernel& kernel, introspect::NetworkSource& source, const Wanted& wanted, const Observed& observed,
            CurrentPath& path, Reporter& reporter, Clock clock)
        : source_(source), wanted_(wanted), observed_(observed), path_(path), reporter_(reporter),
          clock_(std::move(clock)), reconciler_(source, reporter), restingPorts_(clock_()),
          connections_(kernel) {}

    /// `since`: when the reason for it was noticed.
    void reconcile(Time since);
    /// Whether what has been announced is a reason for another plan; and whether there is one without.
    [[nodiscard]] bool concerns(const Result<introspect::Changes>& changes) const;
    [[nodiscard]] bool isDue();

    /// Whether there are rules whose connections are to be learnt, where the kernel is read in place.
    [[nodiscard]] bool mayLearn() const;
    /// Passes on what has become of the rules, which have changed or may have.
    void followRules(bool changed, bool atInterval);
    /// Whether a driver has refused frames, or refuses them no more.
    [[nodiscard]] bool followRefusals();
    /// Whether ports begin or end to rest.
    [[nodiscard]] bool followRests();
    /// Ports that are left to Linux for one of these reasons are tried again.
    void tryAllAgain();
    /// What has looked at the fast path before looks at nothing any more.
    void pathExchanged();

    [[nodiscard]] const assemble::Plan& plan() const { return reconciler_.plan(); }
    [[nodiscard]] const Failures& failures() const { return reconciler_.failures(); }
    [[nodiscard]] const Connections& connections() const { return connections_; }

private:
    [[nodiscard]] bool reconcileOnce(Time since);
    [[nodiscard]] bool followConnections(const assemble::Plan& plan);
    [[nodiscard]] assemble::Wishes wishes() const;
    [[nodiscard]] const model::Network& network() const { return source_.network(); }

    introspect::NetworkSource& source_;
    const Wanted& wanted_;
    const Observed& observed_;
    CurrentPath& path_;
    Reporter& reporter_;
    Clock clock_;
    Reconciler reconciler_;
    RefusedPorts refusedPorts_;
    RestingPorts restingPorts_;
    Connections connections_;
    bool again_ = false; ///< to be decided anew
};

} // namespace tna::daemon
