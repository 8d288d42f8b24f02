// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/backoff.hpp"
#include "daemon/reconcile_step.hpp"
#include "daemon/reporter.hpp"
#include "introspect/network_source.hpp"

#include <chrono>

namespace tna::daemon {

/// Puts plans in place, and remembers what is. What is decided about that is computed in reconcile_step.hpp;
/// here it is done.
class Reconciler {
public:
    using Time = std::chrono::steady_clock::time_point;

    Reconciler(introspect::NetworkSource& source, Reporter& reporter)
        : source_(source), reporter_(reporter) {}

    struct Outcome {
        bool again =
            false; ///< a port that failed is gone, and what was read of that has something decided anew
        bool informed = true; ///< what was to be read of it could be
    };
    /// Puts the plan for these wishes in place, and tells what that has changed. `since` is when the reason
    /// for the plan was noticed.
    [[nodiscard]] Outcome reconcile(deploy::DataPath& dataPath, assemble::Plan plan,
                                    const assemble::Wishes& wishes, Time since);

    [[nodiscard]] const assemble::Plan& plan() const { return inPlace_.plan; }
    [[nodiscard]] const Failures& failures() const { return inPlace_.failures; }
    /// Whether something is to be decided anew.
    [[nodiscard]] bool concerns(const introspect::Changes& changes, std::optional<unsigned> manyRoutes) const;
    /// What the kernel refused is tried again, at first soon. `more`: something else was refused, too.
    [[nodiscard]] bool isRetryDue(Time now, bool more);

private:
    introspect::NetworkSource& source_;
    Reporter& reporter_;
    InPlace inPlace_;
    Backoff retry_;
};

} // namespace tna::daemon
