// SPDX-License-Identifier: Apache-2.0
#include "deploy/kernel_probe.hpp"

#include "deploy/requirements.hpp"

#include <array>
#include <bpf/bpf.h>
#include <cstring>
#include <tna/fastpath.h>

#include "probe.skel.h"

namespace tna::deploy {

Result<KernelProbe> KernelProbe::load() {
    ::probe* skeleton = probe__open_and_load();
    if (skeleton == nullptr)
        return std::unexpected(
            explainRefusal("cannot read the kernel's bridge in place", errno, thisMachine()));
    return KernelProbe{skeleton};
}

KernelProbe::KernelProbe(KernelProbe&& other) noexcept : skeleton_(std::exchange(other.skeleton_, nullptr)) {}

KernelProbe& KernelProbe::operator=(KernelProbe&& other) noexcept {
    std::swap(skeleton_, other.skeleton_);
    return *this;
}

KernelProbe::~KernelProbe() {
    probe__destroy(skeleton_);
}

Result<void> KernelProbe::run(model::IfIndex ifindex, std::uint64_t key) {
    auto& answer = skeleton_->bss->probe;
    answer = {};
    answer.ifindex = ifindex;
    answer.key = key;
    std::array<char, 64> frame{};
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.data(), .data_size_in = frame.size(),
                .repeat = 1);
    if (const int error = bpf_prog_test_run_opts(bpf_program__fd(skeleton_->progs.read_kernel), &options);
        error != 0)
        return failErrno(error, "cannot run the probe program");
    return {};
}

Result<NamespaceFacts> KernelProbe::readNamespace() {
    if (auto ran = run(0, 0); !ran)
        return std::unexpected(ran.error());
    const auto& answer = skeleton_->bss->probe;
    return NamespaceFacts{answer.net, answer.brnf, answer.brnf_iptables != 0, answer.brnf_ip6tables != 0,
                          answer.packed != 0};
}

Result<PortFacts> KernelProbe::readPort(model::IfIndex port) {
    if (auto ran = run(port, 0); !ran)
        return std::unexpected(ran.error());
    const auto& answer = skeleton_->bss->probe;
    if (answer.device == 0)
        return fail("the device with index {} was not found in the kernel's own table", port);
    return PortFacts{answer.port_flags, answer.bridge_options, answer.port_state};
}

Result<std::optional<EntryFacts>> KernelProbe::readEntry(model::IfIndex port, const model::MacAddress& mac,
                                                         std::uint16_t vlan) {
    std::uint64_t key = 0;
    std::memcpy(&key, mac.bytes.data(), mac.bytes.size());
    key |= static_cast<std::uint64_t>(vlan) << 48U;
    if (auto ran = run(port, key); !ran)
        return std::unexpected(ran.error());
    const auto& answer = skeleton_->bss->probe;
    if (answer.entry == 0)
        return std::nullopt;
    return EntryFacts{answer.entry_flags, answer.entry_port};
}

} // namespace tna::deploy
