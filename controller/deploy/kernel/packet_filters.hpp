// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "deploy/kernel/kernel_probe.hpp"
#include "model/packet_filter.hpp"

#include <memory>
#include <set>

struct bpf_program;
struct tna_filter_list;

namespace tna::deploy {

/// Lists in place the filters of packet sockets, in the network namespace of the calling thread.
class PacketFilters {
public:
    [[nodiscard]] static Result<PacketFilters> load(Casts casts);
    /// Of so many sockets as the fast path looks at; long ones are left out.
    [[nodiscard]] Result<std::set<model::PacketFilter>> read();

private:
    using Skeleton = std::unique_ptr<void, void (*)(void*)>;
    template <typename Generated>
    [[nodiscard]] static Result<PacketFilters> loadOf();
    PacketFilters(Skeleton skeleton, const bpf_program* program, const tna_filter_list& answer)
        : skeleton_(std::move(skeleton)), program_(program), answer_(&answer) {}

    Skeleton skeleton_; ///< owns the program and the memory of the answer
    const bpf_program* program_;
    const tna_filter_list* answer_;
};

} // namespace tna::deploy
