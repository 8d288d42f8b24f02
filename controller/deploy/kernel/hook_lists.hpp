// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "deploy/kernel/kernel_probe.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

struct bpf_program;
struct tna_hooks;

namespace tna::deploy {

/// A function that netfilter calls.
struct HookEntry {
    std::uint64_t function = 0; ///< by address
    std::int32_t priority = 0;
    bool ofTables = false;     ///< a base chain of nf_tables
    std::uint32_t program = 0; ///< the id of a BPF program
    bool operator==(const HookEntry&) const = default;
};

/// Those of one place, and where the kernel has them.
struct HookList {
    std::uint64_t address = 0; ///< 0: there are none
    std::vector<HookEntry> functions;
    bool operator==(const HookList&) const = default;
};

/// Pre-routing, forward, post-routing.
using HookPlaces = std::array<HookList, 3>;
struct HookLists {
    HookPlaces ipv4;
    HookPlaces ipv6;
    HookPlaces bridge; ///< what is called for bridged packets
    bool operator==(const HookLists&) const = default;
};

/// Lists in place what netfilter calls for packets that are forwarded, in the network namespace of the
/// calling thread.
class HookProbe {
public:
    [[nodiscard]] static Result<HookProbe> load(Casts casts);
    /// More functions at one place than are looked at are an error.
    [[nodiscard]] Result<HookLists> read();

private:
    using Skeleton = std::unique_ptr<void, void (*)(void*)>;
    template <typename Generated>
    [[nodiscard]] static Result<HookProbe> loadOf();
    HookProbe(Skeleton skeleton, const bpf_program* program, tna_hooks& answer)
        : skeleton_(std::move(skeleton)), program_(program), answer_(&answer) {}

    Skeleton skeleton_; ///< owns the program and the memory of the answer
    const bpf_program* program_;
    tna_hooks* answer_;
};

} // namespace tna::deploy
