// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/rules/flows.hpp"
#include "capability/fdb_proof.hpp"
#include "config/config.hpp"
#include "deploy/kernel/packet_filters.hpp"
#include "deploy/kernel/vlan_devices.hpp"
#include "deploy/results/data_path.hpp"
#include "introspect/connection_change.hpp"
#include "introspect/stations.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tna::daemon {

/// A fast path, and what goes along with the way it learns what Linux would do.
struct Loaded {
    capability::Capabilities capabilities; ///< of the kernel it was loaded into
    std::unique_ptr<deploy::DataPath> dataPath;
    std::unique_ptr<capability::InPlaceReader> reader; ///< where the kernel is read in place
    std::optional<introspect::Stations> stations;      ///< where it is not, and the bridge cannot be asked
    std::optional<deploy::PacketFilters> filters;      ///< where it is, and they can be listed
    std::optional<deploy::VlanDevices> vlanDevices; ///< where it is not; nothing: this kernel does not tell
};

/// What the daemon asks of the kernel, but for the network itself (introspect::NetworkSource), and what it
/// loads into it. RealKernel asks the one that runs; tests answer themselves.
class Kernel {
public:
    Kernel() = default;
    virtual ~Kernel() = default;
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;

    /// Loads the fast path that the configuration wants and the kernel can do.
    [[nodiscard]] virtual Result<Loaded> load(const config::Config& config) = 0;
    /// The one that reads nothing in place; into a kernel that can do that much.
    [[nodiscard]] virtual Result<Loaded> loadWatched(const config::Config& config,
                                                     const capability::Capabilities& capabilities) = 0;

    using Modules = std::map<std::string, std::uint64_t>;
    /// Kernel modules whose types and functions the fast path looks at, see capability::loadedModules().
    [[nodiscard]] virtual Modules modules() const = 0;
    /// Up to so many entries of all bridges' forwarding databases.
    [[nodiscard]] virtual Result<std::vector<model::FdbEntry>> dumpFdb(std::size_t most) const = 0;
    using Devices = std::map<model::IfIndex, capability::XdpFeatures>;
    /// What drivers say they can do with XDP.
    [[nodiscard]] virtual Result<Devices> xdpFeatures() const = 0;
    /// The rule sets as they are in effect, but for tables of iptables-legacy. Not for several threads at a
    /// time.
    [[nodiscard]] virtual Result<assemble::RulesInPlace> readRules() = 0;
    /// Of the entry of a connection; from any thread.
    [[nodiscard]] virtual Result<void> change(const introspect::ConnectionChange& change) = 0;
    /// Whether BPF programs of traffic control are attached to a device (tcx).
    [[nodiscard]] virtual bool hasTcxAtIngress(model::IfIndex ifindex) const = 0;
    [[nodiscard]] virtual bool hasTcxAtEgress(model::IfIndex ifindex) const = 0;
    /// Bridges that are part of redundancy rings (MRP).
    [[nodiscard]] virtual Result<std::set<model::IfIndex>> rings() const = 0;
    /// Bridges that want all frames.
    [[nodiscard]] virtual Result<std::set<model::IfIndex>> promiscuousBridges() const = 0;
};

} // namespace tna::daemon
