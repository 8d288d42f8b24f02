// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/delays/device_knobs.hpp"
#include "bench/delays/far_end.hpp"
#include "bench/delays/prober.hpp"
#include "bench/testbed/own_namespace.hpp"
#include "bench/testbed/scenario.hpp"

#include <memory>

namespace tna::bench {

/// A device that probes leave by, and one that they come to: a veth pair between two namespaces of its own,
/// or interfaces that are joined by a cable, both of this machine or not; then the far one may have an
/// address.
class Place {
public:
    [[nodiscard]] static Result<std::unique_ptr<Place>> make(const Cabling& cabling,
                                                             const std::string& address = {});

    [[nodiscard]] const NetNamespace& where() const { return here_ ? *here_ : namespaces_[0].handle(); }
    [[nodiscard]] bool named() const { return here_.has_value(); }
    [[nodiscard]] const std::string& device() const { return device_; }
    [[nodiscard]] FarEnd& farEnd() { return *farEnd_; }
    [[nodiscard]] Ends macs() const { return {mac_, farEnd_->mac()}; }
    /// What cannot be told here, and why; tried out.
    [[nodiscard]] std::vector<MissingKnob> missing();
    /// Of those settings that are the near device's and the machine's.
    [[nodiscard]] Result<void> apply(Settings settings);

private:
    Place() = default;
    [[nodiscard]] Result<void> build();
    [[nodiscard]] Result<void> use(const Cabling& cabling, const std::string& address);
    [[nodiscard]] Result<void> openDevice();
    std::vector<OwnNamespace> namespaces_;
    std::optional<NetNamespace> here_;
    std::string device_ = "p0";
    std::array<unsigned char, 6> mac_{};
    std::optional<DeviceKnobs> knobs_;
    IdleKnob idle_;
    std::unique_ptr<FarEnd> farEnd_;
};

} // namespace tna::bench
