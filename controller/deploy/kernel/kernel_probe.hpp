// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "capability/in_place_facts.hpp"
#include "model/network.hpp"

#include <memory>
#include <optional>

struct bpf_program;
struct tna_probe;

namespace tna::deploy {

/// How this kernel lets programs read its structures (fpm/kernel/access.h): there is an object for each.
enum class Casts { untyped, typed };

/// What holds for the namespace as a whole.
struct NamespaceFacts {
    std::uint64_t net = 0;
    std::uint64_t brNetfilter = 0; ///< struct brnf_net, 0 where br_netfilter is not there
    bool callIptables = false;
    bool callIp6tables = false;
    bool packed = false; ///< fields lie side by side that one load can read
};

/// Reads the kernel's structures in place, for comparison with what netlink says. Works in the network
/// namespace of the calling thread.
class KernelProbe {
public:
    /// Finds out which casts the kernel takes by loading the one program, then the other.
    [[nodiscard]] static Result<KernelProbe> load();

    [[nodiscard]] Casts casts() const { return casts_; }
    [[nodiscard]] Result<NamespaceFacts> readNamespace();
    [[nodiscard]] Result<capability::PortFacts> readPort(model::IfIndex port);
    /// The FDB entry for a station in the bridge of `port`; nothing if the walk does not find it.
    [[nodiscard]] Result<std::optional<capability::EntryFacts>>
    readEntry(model::IfIndex port, const model::MacAddress& mac, std::uint16_t vlan);
    [[nodiscard]] Result<capability::VlanFacts> readVlan(model::IfIndex port, std::uint16_t vid);

private:
    using Skeleton = std::unique_ptr<void, void (*)(void*)>;
    template <typename Generated>
    [[nodiscard]] static Result<KernelProbe> tryLoad(Casts casts);
    KernelProbe(Skeleton skeleton, const bpf_program* program, tna_probe& answer, Casts casts)
        : skeleton_(std::move(skeleton)), program_(program), answer_(&answer), casts_(casts) {}
    [[nodiscard]] Result<void> run(model::IfIndex ifindex, std::uint64_t key, std::uint16_t vid = 0);

    Skeleton skeleton_; ///< owns the program and the memory of the answer
    const bpf_program* program_;
    tna_probe* answer_;
    Casts casts_;
};

} // namespace tna::deploy
