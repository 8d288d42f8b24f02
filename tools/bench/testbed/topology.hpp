// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/testbed/own_namespace.hpp"
#include "bench/testbed/scenario.hpp"

#include <vector>

namespace tna::bench {

/// generator g0 -- d0 [device under test] d1 -- s0 sink, each in a network namespace of its own. Every
/// device has one queue per CPU, and each CPU sends through its own. Or two interfaces of this machine,
/// cabled to another one.
class Topology {
public:
    [[nodiscard]] static Result<Topology> make(const Setup& setup);

    [[nodiscard]] const NetNamespace& generator() const { return here_ ? *here_ : namespaces_[0].handle(); }
    /// That of this program where the device under test is another machine.
    [[nodiscard]] const NetNamespace& device() const { return here_ ? *here_ : namespaces_[1].handle(); }
    [[nodiscard]] const NetNamespace& sink() const { return here_ ? *here_ : namespaces_[2].handle(); }
    [[nodiscard]] const std::string& generatorDevice() const { return generatorDevice_; }
    [[nodiscard]] const std::string& sinkDevice() const { return sinkDevice_; }
    /// The device under test is another machine.
    [[nodiscard]] bool cabled() const { return here_.has_value(); }
    [[nodiscard]] const std::string& generatorName() const { return namespaces_[0].name(); }
    [[nodiscard]] const std::string& sinkName() const { return namespaces_[2].name(); }

private:
    Topology() = default;
    [[nodiscard]] Result<void> build(const Setup& setup);
    [[nodiscard]] Result<void> shapeDevices(const Setup& setup) const;
    [[nodiscard]] Result<void> spreadQueues(unsigned queues) const;
    [[nodiscard]] Result<void> useInterfaces(const Cabling& cabling);
    std::vector<OwnNamespace> namespaces_;
    std::optional<NetNamespace> here_;
    std::vector<UniqueFd> promiscuous_;
    std::string generatorDevice_ = "g0";
    std::string sinkDevice_ = "s0";
};

/// The XPS masks of `queues` transmit queues, in the words of sysfs: queue n belongs to CPU n.
[[nodiscard]] std::vector<std::string> xpsMasks(unsigned queues);

} // namespace tna::bench
