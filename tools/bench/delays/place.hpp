// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/delays/device_knobs.hpp"
#include "bench/delays/prober.hpp"
#include "bench/testbed/own_namespace.hpp"
#include "bench/testbed/scenario.hpp"

#include <memory>

namespace tna::bench {

/// Two devices that face each other: a veth pair between two namespaces of its own, or two interfaces of this
/// machine, joined by a cable.
class Place {
public:
    [[nodiscard]] static Result<std::unique_ptr<Place>> make(const Cabling& cabling);

    struct End {
        const NetNamespace* where;
        std::string device;
        std::string address; ///< of IPv4; empty for interfaces that are only used
    };
    [[nodiscard]] End prober() const;
    [[nodiscard]] End forwarder() const;
    [[nodiscard]] const Ends& macs() const { return macs_; }
    /// What cannot be told here, and why; tried out.
    [[nodiscard]] std::vector<MissingKnob> missing();
    /// Of those settings that are the devices' and the machine's.
    [[nodiscard]] Result<void> apply(Settings settings);

private:
    Place() = default;
    [[nodiscard]] Result<void> build();
    [[nodiscard]] Result<void> use(const Cabling& cabling);
    [[nodiscard]] Result<void> readMacs();
    std::vector<OwnNamespace> namespaces_;
    std::optional<NetNamespace> here_;
    std::array<std::string, 2> devices_{"p0", "f0"};
    Ends macs_;
    std::vector<DeviceKnobs> knobs_;
    IdleKnob idle_;
};

} // namespace tna::bench
