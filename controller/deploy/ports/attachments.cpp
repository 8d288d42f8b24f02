// SPDX-License-Identifier: Apache-2.0
#include "deploy/ports/attachments.hpp"

#include "deploy/kernel/tcx.hpp"

#include <algorithm>
#include <spdlog/spdlog.h>

namespace tna::deploy {

namespace {
/// What the kernel calls directly (BPF_DISPATCHER_MAX is 48), less the shared entry. Further ports keep the
/// shared one: calling it is faster than calling one that found no room, and where there is no room nothing
/// waits when they change.
constexpr std::ptrdiff_t mostOwnEntries = 47;
} // namespace

Result<Attachments> Attachments::make(assemble::Hook hook, Buffers buffers, Presences presences,
                                      ProfileStore& profiles) {
    const auto type = hook == assemble::Hook::xdp ? BPF_PROG_TYPE_XDP : BPF_PROG_TYPE_SCHED_CLS;
    auto passAll = loadPassAll(type, buffers);
    if (!passAll)
        return std::unexpected(passAll.error());
    auto entries = EntryPrograms::load(hook, buffers);
    if (!entries)
        return std::unexpected(entries.error());
    return Attachments{hook, std::move(presences), std::move(*entries), std::move(*passAll), profiles};
}

void Attachments::dropUnplanned(const assemble::Plan& plan, Applied& applied) {
    std::erase_if(attachments_, [&](const auto& item) {
        const auto it = plan.ports.find(item.first);
        const bool keep =
            it != plan.ports.end() && (it->second.profile || it->second.standby) && item.second.alive();
        if (!keep) {
            placed_.erase(item.first);
            applied.detached++;
        }
        return !keep;
    });
    for (auto it = attachments_.begin(); it != attachments_.end();) {
        const bool toEmpty = !plan.ports.at(it->first).profile && placed_.erase(it->first) > 0;
        it = toEmpty && !emptied(it->second, applied) ? attachments_.erase(it) : std::next(it);
    }
}

void Attachments::remove(model::IfIndex ifindex) {
    attachments_.erase(ifindex);
    placed_.erase(ifindex);
}

void Attachments::dropUnused() {
    inherited_.clear();
    entries_.dropUnused(profiles_);
}

bool Attachments::has(model::IfIndex ifindex) const {
    return attachments_.contains(ifindex) || inherited_.contains(ifindex);
}

const assemble::Profile* Attachments::profileOn(model::IfIndex ifindex) const {
    const auto it = placed_.find(ifindex);
    return it == placed_.end() ? nullptr : &it->second;
}

bool Attachments::anyCut() const {
    return std::ranges::any_of(attachments_, [](const auto& item) { return !item.second.alive(); });
}

Result<void> Attachments::takeOwnEntry(PortAttachment& attachment, int program) {
    auto entry = entries_.own(program);
    if (!entry)
        return std::unexpected(entry.error());
    return attachment.takeOwnEntry(std::move(*entry));
}

Result<void> Attachments::setProgram(PortAttachment& attachment, int program) {
    const auto* own = attachment.ownEntry();
    return own != nullptr ? own->setProfile(program) : takeOwnEntry(attachment, program);
}

/// Leaves a port's frames to Linux, still attached; false where only detaching does it.
bool Attachments::emptied(PortAttachment& attachment, Applied& applied) {
    applied.swapped++;
    const auto done = setProgram(attachment, passAll_.get());
    if (!done)
        spdlog::debug("{}", done.error().sentence());
    return done.has_value();
}

/// A port that has no attachment yet starts with the entry of its profile.
Result<PortAttachment*> Attachments::attach(const assemble::PortPlan& port, const model::Link& link,
                                            Applied& applied) {
    if (const auto it = attachments_.find(port.ifindex); it != attachments_.end())
        return &it->second;
    const auto program = profiles_.program(*port.profile);
    if (!program)
        return std::unexpected(program.error());
    const auto entry = entries_.shared(*port.profile, *program);
    if (!entry)
        return std::unexpected(entry.error());
    auto adopted = adopt(port.ifindex, **entry);
    auto attached = adopted ? std::move(*adopted) : PortAttachment::attach(hook_, **entry, link, presences_);
    if (!attached)
        return std::unexpected(attached.error());
    applied.attached++;
    applied.swapped++;
    placed_[port.ifindex] = *port.profile;
    return &attachments_.emplace(port.ifindex, std::move(*attached)).first->second;
}

Result<void> Attachments::place(const assemble::PortPlan& port, const model::Link& link, Applied& applied) {
    const auto attached = attach(port, link, applied);
    if (!attached)
        return std::unexpected(attached.error());
    if (const auto* current = profileOn(port.ifindex); current != nullptr && *current == *port.profile)
        return {};
    const auto program = profiles_.program(*port.profile);
    if (!program)
        return std::unexpected(program.error());
    if (auto set = setProgram(**attached, *program); !set)
        return set;
    placed_[port.ifindex] = *port.profile;
    applied.swapped++;
    return {};
}

bool Attachments::settled() const {
    if (cannotSettle_)
        return true;
    const auto own =
        std::ranges::count_if(attachments_, [](const auto& item) { return item.second.hasOwnEntry(); });
    return own >= mostOwnEntries || static_cast<std::size_t>(own) == attachments_.size();
}

void Attachments::settleNext() {
    const auto next =
        std::ranges::find_if(attachments_, [](const auto& item) { return !item.second.hasOwnEntry(); });
    if (next == attachments_.end())
        return;
    // An empty port has its own by then; others' profiles are loaded.
    const auto program = profiles_.program(placed_.at(next->first));
    const auto taken =
        program ? takeOwnEntry(next->second, *program) : Result<void>{std::unexpected(program.error())};
    if (!taken) {
        spdlog::debug("{}", taken.error().sentence());
        cannotSettle_ = true;
    }
}

std::vector<UniqueFd> Attachments::handOver() {
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

void Attachments::inherit(std::vector<UniqueFd> links) {
    for (auto& link : links)
        if (const auto to = attachedBy(link.get());
            to && to->tcx == (hook_ == assemble::Hook::tcx) && to->ifindex != 0)
            inherited_.emplace(to->ifindex, std::move(link));
}

/// Nothing if there is none, or it cannot be used: then it is detached.
std::optional<PortAttachment> Attachments::adopt(model::IfIndex ifindex, const Entry& entry) {
    while (auto inherited = inherited_.extract(ifindex)) {
        auto adopted = PortAttachment::adopt(std::move(inherited.mapped()), entry, ifindex, presences_);
        if (adopted)
            return std::move(*adopted);
        spdlog::debug("{}", adopted.error().sentence());
    }
    return std::nullopt;
}

} // namespace tna::deploy
