// SPDX-License-Identifier: Apache-2.0
#include "deploy/ports/port_attachment.hpp"

#include "deploy/kernel/tcx.hpp"

#include <bpf/bpf.h>
#include <linux/if_link.h>

namespace tna::deploy {

namespace {
Error explainAttach(assemble::Hook hook, int code, const model::Link& link) {
    Error error{fmt::format("cannot attach to {}", link.name), errnoText(code), {}, ExitCode::failure, code};
    if (hook == assemble::Hook::tcx)
        return error;
    if (code == EBUSY || code == EEXIST)
        error.hint = "another XDP program is attached; it is left alone (`ip link show` names it)";
    else if (code == EOPNOTSUPP || code == EINVAL)
        error.hint = "the driver has no native XDP in its present settings";
    else if (code == ERANGE || code == EMSGSIZE)
        error.hint = "the MTU is larger than the driver's XDP takes";
    return error;
}
} // namespace

Result<Entry> Entry::load(const ProgramTemplate& entry, int templateMap) {
    UniqueFd slot{
        bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, "tna_profile", sizeof(__u32), sizeof(__u32), 1, nullptr)};
    if (!slot)
        return failErrno(errno, "cannot create the slot of a profile");
    auto program = entry.load({{templateMap, slot.get()}}, {});
    if (!program)
        return std::unexpected(program.error());
    return Entry{std::move(slot), std::move(*program)};
}

Result<void> Entry::setProfile(int program) const {
    const __u32 zero = 0;
    if (bpf_map_update_elem(slot_.get(), &zero, &program, BPF_ANY) != 0)
        return failErrno(errno, "cannot put the profile in place");
    return {};
}

Result<PortAttachment> PortAttachment::attach(assemble::Hook hook, const Entry& shared,
                                              const model::Link& link, const Presences& presences) {
    auto presence = presences.of(link.ifindex);
    if (!presence)
        return std::unexpected(presence.error());
    const bool xdp = hook == assemble::Hook::xdp;
    LIBBPF_OPTS(bpf_link_create_opts, options, .flags = xdp ? XDP_FLAGS_DRV_MODE : 0U);
    UniqueFd attached{bpf_link_create(shared.program(), static_cast<int>(link.ifindex),
                                      xdp ? BPF_XDP : tcxIngress, &options)};
    if (!attached)
        return std::unexpected(explainAttach(hook, errno, link));
    return PortAttachment{std::move(attached), std::move(*presence)};
}

Result<PortAttachment> PortAttachment::adopt(UniqueFd link, const Entry& shared, model::IfIndex ifindex,
                                             const Presences& presences) {
    auto presence = presences.of(ifindex);
    if (!presence)
        return std::unexpected(presence.error());
    if (bpf_link_update(link.get(), shared.program(), nullptr) != 0)
        return failErrno(errno, "cannot take over what is attached");
    if (!isAttachedHere(link.get(), ifindex))
        return fail("what was attached to the device with index {} is on another one", ifindex);
    return PortAttachment{std::move(link), std::move(*presence)};
}

Result<UniqueFd> PortAttachment::handOver(int passAll) && {
    if (bpf_link_update(link_.get(), passAll, nullptr) != 0)
        return failErrno(errno, "cannot leave a port to Linux");
    return std::move(link_);
}

Result<void> PortAttachment::takeOwnEntry(Entry own) {
    if (bpf_link_update(link_.get(), own.program(), nullptr) != 0)
        return failErrno(errno, "cannot replace an entry program");
    own_.emplace(std::move(own));
    return {};
}

bool PortAttachment::alive() const {
    const auto attached = attachedBy(link_.get());
    return attached && attached->ifindex != 0 && presence_.lasts();
}

} // namespace tna::deploy
