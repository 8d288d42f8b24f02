// SPDX-License-Identifier: Apache-2.0
#include "deploy/kernel/kernel_probe.hpp"

#include "deploy/kernel/requirements.hpp"

#include <array>
#include <bpf/bpf.h>
#include <cstring>
#include <tna/fastpath.h>

#include "probe.skel.h"
#include "probe_typed.skel.h"

namespace tna::deploy {

template <typename Generated>
Result<KernelProbe> KernelProbe::tryLoad(Casts casts) {
    auto* skeleton = Generated::open_and_load();
    if (skeleton == nullptr)
        return std::unexpected(
            explainRefusal("cannot read the kernel's bridge in place", errno, thisMachine()));
    Skeleton owned{skeleton, [](void* object) { Generated::destroy(static_cast<Generated*>(object)); }};
    return KernelProbe{std::move(owned), skeleton->progs.read_kernel, skeleton->bss->probe, casts};
}

Result<KernelProbe> KernelProbe::load() {
    auto untyped = tryLoad<::probe>(Casts::untyped);
    return untyped ? std::move(untyped) : tryLoad<::probe_typed>(Casts::typed);
}

Result<void> KernelProbe::run(model::IfIndex ifindex, std::uint64_t key, std::uint16_t vid) {
    auto& answer = *answer_;
    answer = {};
    answer.ifindex = ifindex;
    answer.key = key;
    answer.vid = vid;
    std::array<char, 64> frame{};
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.data(), .data_size_in = frame.size(),
                .repeat = 1);
    if (const int error = bpf_prog_test_run_opts(bpf_program__fd(program_), &options); error != 0)
        return failErrno(error, "cannot run the probe program");
    return {};
}

Result<NamespaceFacts> KernelProbe::readNamespace() {
    if (auto ran = run(0, 0); !ran)
        return std::unexpected(ran.error());
    const auto& answer = *answer_;
    return NamespaceFacts{answer.net, answer.brnf, answer.brnf_iptables != 0, answer.brnf_ip6tables != 0,
                          answer.packed != 0};
}

Result<capability::PortFacts> KernelProbe::readPort(model::IfIndex port) {
    if (auto ran = run(port, 0); !ran)
        return std::unexpected(ran.error());
    const auto& answer = *answer_;
    if (answer.device == 0)
        return fail("the device with index {} was not found in the kernel's own table", port);
    return capability::PortFacts{answer.port_flags, answer.bridge_options, answer.port_state};
}

Result<std::optional<capability::EntryFacts>>
KernelProbe::readEntry(model::IfIndex port, const model::MacAddress& mac, std::uint16_t vlan) {
    std::uint64_t key = 0;
    std::memcpy(&key, mac.bytes.data(), mac.bytes.size());
    key |= static_cast<std::uint64_t>(vlan) << 48U;
    if (auto ran = run(port, key); !ran)
        return std::unexpected(ran.error());
    const auto& answer = *answer_;
    if (answer.entry == 0)
        return std::nullopt;
    return capability::EntryFacts{answer.entry_flags, answer.entry_port};
}

Result<capability::VlanFacts> KernelProbe::readVlan(model::IfIndex port, std::uint16_t vid) {
    if (auto ran = run(port, 0, vid); !ran)
        return std::unexpected(ran.error());
    const auto& answer = *answer_;
    return capability::VlanFacts{answer.vlan_known != 0,
                                 answer.vlan_found != 0,
                                 answer.vlan_flags,
                                 answer.vlan_state,
                                 static_cast<std::uint16_t>(answer.pvid),
                                 static_cast<std::uint16_t>(answer.vlan_protocol)};
}

} // namespace tna::deploy
