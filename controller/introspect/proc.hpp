// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/net_namespace.hpp"
#include "introspect/tracker.hpp"

#include <functional>

namespace tna::introspect {

/// What the kernel tells in /proc only and never announces: some sysctls, and the tables of iptables-legacy.
class Proc {
public:
    /// Of the calling thread's network namespace, for good.
    [[nodiscard]] static Result<Proc> open();

    /// Reads them; enters the namespace for that if the calling thread is elsewhere.
    [[nodiscard]] Result<void> read(Tracker& tracker) const;
    /// Only who captures.
    [[nodiscard]] Result<void> readCaptures(Tracker& tracker) const;

private:
    [[nodiscard]] Result<void> atHome(const std::function<void()>& read) const;
    explicit Proc(NetNamespace home) : home_(std::move(home)) {}
    NetNamespace home_;
};

} // namespace tna::introspect
