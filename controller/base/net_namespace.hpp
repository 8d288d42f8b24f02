// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"

#include <string>

namespace tna {

/// A handle on a network namespace.
class NetNamespace {
public:
    /// The calling thread's own namespace.
    [[nodiscard]] static Result<NetNamespace> current();
    /// A namespace made with `ip netns add`.
    [[nodiscard]] static Result<NetNamespace> named(const std::string& name);

    /// Moves the calling thread into it.
    [[nodiscard]] Result<void> enter() const;
    [[nodiscard]] int fd() const { return fd_.get(); }

private:
    explicit NetNamespace(UniqueFd fd, std::string label) : fd_(std::move(fd)), label_(std::move(label)) {}
    UniqueFd fd_;
    std::string label_;
};

/// Enters a namespace for the life of this object; the calling thread returns to where it was.
class NamespaceScope {
public:
    [[nodiscard]] static Result<NamespaceScope> enter(const NetNamespace& target);
    NamespaceScope(NamespaceScope&&) = default;
    NamespaceScope& operator=(NamespaceScope&&) = delete;
    NamespaceScope(const NamespaceScope&) = delete;
    NamespaceScope& operator=(const NamespaceScope&) = delete;
    ~NamespaceScope();

private:
    explicit NamespaceScope(NetNamespace home) : home_(std::move(home)) {}
    NetNamespace home_;
};

} // namespace tna
