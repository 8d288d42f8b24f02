// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/net_namespace.hpp"

#include <optional>
#include <string>

namespace tna::bench {

/// A network namespace of this program's own, gone when the object is; quiet: IPv6 is off in it, and so
/// are br_netfilter's calls of the rule sets.
class OwnNamespace {
public:
    [[nodiscard]] static Result<OwnNamespace> make(const std::string& role);
    OwnNamespace(OwnNamespace&& other) noexcept
        : name_(std::exchange(other.name_, {})), handle_(std::move(other.handle_)) {}
    OwnNamespace& operator=(OwnNamespace&&) = delete;
    ~OwnNamespace();

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const NetNamespace& handle() const { return *handle_; }

private:
    OwnNamespace() = default;
    std::string name_;
    std::optional<NetNamespace> handle_;
};

/// br_netfilter in the calling thread's namespace: whether bridged frames go through the rule sets.
[[nodiscard]] Result<void> setBridgeNetfilter(bool on);

/// Removes namespaces of runs that were killed; says how many.
unsigned removeLeftovers();

} // namespace tna::bench
