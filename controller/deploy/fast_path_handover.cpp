// SPDX-License-Identifier: Apache-2.0
// The part of the fast path that is handed over, from one process to the next and from one pipeline to the
// next: what is attached stays attached, as drivers may stop their queues to make room for XDP.
#include "deploy/fast_path.hpp"

#include <bpf/bpf.h>
#include <spdlog/spdlog.h>

namespace tna::deploy {

namespace {
/// The device that a link attaches a program to; 0: it is another kind of link, or the device is gone.
model::IfIndex deviceOf(int link) {
    bpf_link_info info{};
    __u32 size = sizeof(info);
    if (bpf_obj_get_info_by_fd(link, &info, &size) != 0 || info.type != BPF_LINK_TYPE_XDP)
        return 0;
    return info.xdp.ifindex;
}
} // namespace

std::vector<UniqueFd> FastPath::handOver() {
    std::vector<UniqueFd> links;
    for (auto& [ifindex, attachment] : attachments_) {
        auto link = std::move(attachment).handOver(passAll_.get());
        if (link)
            links.push_back(std::move(*link));
        else // what would go on without us is detached
            spdlog::debug("{}", link.error().sentence());
    }
    attachments_.clear();
    placed_.clear();
    return links;
}

void FastPath::inherit(std::vector<UniqueFd> links) {
    for (auto& link : links)
        if (const auto device = deviceOf(link.get()); device != 0)
            inherited_.insert_or_assign(device, std::move(link));
}

/// Nothing if there is none, or it cannot be used: then it is detached.
std::optional<PortAttachment> FastPath::adopt(model::IfIndex ifindex, const Entry& entry) {
    auto inherited = inherited_.extract(ifindex);
    if (!inherited)
        return std::nullopt;
    auto adopted = PortAttachment::adopt(std::move(inherited.mapped()), entry);
    if (adopted)
        return std::move(*adopted);
    spdlog::debug("{}", adopted.error().sentence());
    return std::nullopt;
}

} // namespace tna::deploy
