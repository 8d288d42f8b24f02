// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/kernel.hpp"
#include "daemon/rules_in_place.hpp"
#include "deploy/kernel/kernel_probe.hpp"

#include <functional>
#include <future>

namespace tna::daemon {

/// What tests put in the place of the real thing.
struct Seams {
    /// Reads in place for the proof, through the probe.
    std::function<std::unique_ptr<capability::InPlaceReader>(deploy::KernelProbe&)> reader;
    std::size_t stationsBuffer = std::size_t{16} * 1024 * 1024; ///< bytes of announcements that may wait
};

/// The probe for reading in place, or why there is none; by the configuration, too.
[[nodiscard]] Result<deploy::KernelProbe> loadProbe(const config::Config& config);

/// The kernel that runs, in the network namespace of the calling thread.
class RealKernel : public Kernel {
public:
    /// Begins with what takes longest, in a thread of its own.
    explicit RealKernel(Seams seams);

    [[nodiscard]] Result<Loaded> load(const config::Config& config) override;
    [[nodiscard]] Result<Loaded> loadWatched(const config::Config& config,
                                             const capability::Capabilities& capabilities) override;
    [[nodiscard]] Modules modules() const override;
    [[nodiscard]] Result<std::vector<model::FdbEntry>> dumpFdb(std::size_t most) const override;
    [[nodiscard]] Result<Devices> xdpFeatures() const override;
    [[nodiscard]] Result<assemble::RulesInPlace> readRules() override;
    [[nodiscard]] Result<void> change(const introspect::ConnectionChange& change) override;
    [[nodiscard]] bool hasTcxAtIngress(model::IfIndex ifindex) const override;
    [[nodiscard]] bool hasTcxAtEgress(model::IfIndex ifindex) const override;
    [[nodiscard]] Result<std::set<model::IfIndex>> rings() const override;
    [[nodiscard]] Result<std::set<model::IfIndex>> promiscuousBridges() const override;

private:
    [[nodiscard]] Result<Loaded> loadInPlace(const config::Config& config, deploy::KernelProbe probe,
                                             capability::Capabilities capabilities) const;
    [[nodiscard]] Result<Loaded> loadAskingOrMirroring(const config::Config& config,
                                                       capability::Capabilities capabilities) const;

    Seams seams_;
    RulesInPlaceReader rules_;
    /// What the kernel says of itself, asked ahead; used once.
    std::future<Result<capability::Capabilities>> asked_;
};

} // namespace tna::daemon
