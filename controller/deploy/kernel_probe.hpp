// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "model/network.hpp"

#include <memory>
#include <optional>

struct probe;

namespace tna::deploy {

/// What holds for the namespace as a whole.
struct NamespaceFacts {
    std::uint64_t net = 0;
    std::uint64_t brNetfilter = 0; ///< struct brnf_net, 0 where br_netfilter is not there
    bool callIptables = false;
    bool callIp6tables = false;
    bool packed = false; ///< fields lie side by side that one load can read
};

/// A bridge port as the fast path will see it.
struct PortFacts {
    std::uint64_t flags = 0;
    std::uint64_t bridgeOptions = 0;
    unsigned state = 0;
};

struct EntryFacts {
    std::uint64_t flags = 0;
    model::IfIndex port = 0;
};

/// Reads the kernel's structures in place, for comparison with what netlink says. Works in the network
/// namespace of the calling thread.
class KernelProbe {
public:
    [[nodiscard]] static Result<KernelProbe> load();
    KernelProbe(KernelProbe&&) noexcept;
    KernelProbe& operator=(KernelProbe&&) noexcept;
    ~KernelProbe();

    [[nodiscard]] Result<NamespaceFacts> readNamespace();
    [[nodiscard]] Result<PortFacts> readPort(model::IfIndex port);
    /// The FDB entry for a station in the bridge of `port`; nothing if the walk does not find it.
    [[nodiscard]] Result<std::optional<EntryFacts>>
    readEntry(model::IfIndex port, const model::MacAddress& mac, std::uint16_t vlan);

private:
    explicit KernelProbe(::probe* skeleton) : skeleton_(skeleton) {}
    [[nodiscard]] Result<void> run(model::IfIndex ifindex, std::uint64_t key);
    ::probe* skeleton_;
};

} // namespace tna::deploy
