// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/net_namespace.hpp"

#include <optional>
#include <string>

namespace tna::test {

/// A network namespace of the test's own; gone when the object is. Its name carries the test's pid, and
/// namespaces of dead tests are removed when the first one is made. IPv6 is off in it, so that no frame
/// comes unasked.
class Namespace {
public:
    Namespace();
    /// Somebody else's, which a file stands for; it stays when the object goes.
    explicit Namespace(const std::string& file);
    ~Namespace();
    Namespace(const Namespace&) = delete;
    Namespace& operator=(const Namespace&) = delete;

    [[nodiscard]] const std::string& name() const { return name_; }
    /// The calling thread enters it for the life of the result.
    [[nodiscard]] NamespaceScope enter() const;

private:
    void open(const std::string& made);

    std::string name_;
    std::optional<NetNamespace> handle_;
};

/// Sets a sysctl of the calling thread's network namespace ("net.bridge.bridge-nf-call-iptables").
void sysctl(const std::string& name, const std::string& value);

/// Why tests that need a kernel to experiment with cannot run here; empty if they can.
std::string cannotUseNamespaces();

} // namespace tna::test
