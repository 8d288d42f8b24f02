// SPDX-License-Identifier: Apache-2.0
#include "deploy/both_hooks.hpp"

#include "assemble/hooks.hpp"
#include "deploy/kernel/tcx.hpp"

#include <algorithm>
#include <iterator>

namespace tna::deploy {

namespace {
void add(Applied& sum, const Applied& more) {
    sum.attached += more.attached;
    sum.detached += more.detached;
    sum.swapped += more.swapped;
}
} // namespace

void SelfCheckAtBoth::add(const SelfCheck& tcx) {
    tcx_ = &tcx;
    tcx.mistrustAs(xdp_.mistrust());
}

std::optional<Disagreement> SelfCheckAtBoth::disagreement() const {
    auto found = xdp_.disagreement();
    return found || !tcx_ ? found : tcx_->disagreement();
}

std::vector<std::string> SelfCheckAtBoth::mistrusted() const {
    auto modules = xdp_.mistrusted();
    if (tcx_)
        for (auto& module : tcx_->mistrusted())
            if (std::ranges::find(modules, module) == modules.end())
                modules.push_back(std::move(module));
    return modules;
}

void SelfCheckAtBoth::trust() const {
    xdp_.trust();
    if (tcx_)
        tcx_->trust();
}

Mistrust SelfCheckAtBoth::mistrust() const {
    auto all = xdp_.mistrust();
    if (!tcx_)
        return all;
    const auto atTcx = tcx_->mistrust();
    if (all.modules == 0)
        all.found = atTcx.found;
    all.modules |= atTcx.modules;
    return all;
}

void SelfCheckAtBoth::mistrustAs(const Mistrust& other) const {
    xdp_.mistrustAs(other);
    if (tcx_)
        tcx_->mistrustAs(other);
}

void AttachedAtBoth::add(AttachedPrograms& tcx) {
    tcx_ = &tcx;
    tcx.inherit(std::exchange(waiting_, {}));
}

std::vector<UniqueFd> AttachedAtBoth::handOver() {
    auto links = xdp_.handOver();
    if (tcx_)
        std::ranges::move(tcx_->handOver(), std::back_inserter(links));
    return links;
}

void AttachedAtBoth::inherit(std::vector<UniqueFd> links) {
    std::vector<UniqueFd> atXdp;
    for (auto& link : links) {
        const auto to = attachedBy(link.get());
        auto& place = to && to->tcx ? waiting_ : atXdp;
        place.push_back(std::move(link));
    }
    xdp_.inherit(std::move(atXdp));
    if (tcx_)
        tcx_->inherit(std::exchange(waiting_, {}));
}

bool AttachedAtBoth::settled() const {
    return xdp_.settled() && (!tcx_ || tcx_->settled());
}

void AttachedAtBoth::settleNext() {
    if (!xdp_.settled())
        xdp_.settleNext();
    else if (tcx_)
        tcx_->settleNext();
}

void BothHooks::setModules(ModulesById modules) {
    if (tcx_)
        tcx_->setModules(modules);
    modules_ = modules;
    xdp_->setModules(std::move(modules));
}

Applied BothHooks::applyAtTcx(const assemble::Plan& plan, const model::Network& network) {
    const auto part = assemble::partAt(assemble::Hook::tcx, plan);
    Applied applied;
    if (!tcx_ && assemble::anyProfile(part)) {
        auto loaded = loadTcx_();
        if (!loaded) {
            for (const auto& [ifindex, port] : part.ports)
                if (port.profile)
                    applied.failures.emplace(ifindex, loaded.error());
            return applied;
        }
        tcx_ = std::move(*loaded);
        selfCheck_.add(tcx_->selfCheck());
        attachedPrograms_.add(tcx_->attachedPrograms());
        tcx_->setModules(modules_);
    }
    attachedPrograms_.dropWaiting();
    return tcx_ ? tcx_->apply(part, network) : applied;
}

/// The part at tcx. What cannot be there behind XDP is taken out of the plan: it is at XDP only.
Applied BothHooks::applyBehind(assemble::Plan& plan, const model::Network& network) {
    auto applied = applyAtTcx(plan, network);
    behind_.clear();
    for (auto& [ifindex, port] : plan.ports)
        if (const auto failure = applied.failures.find(ifindex);
            port.behind && failure != applied.failures.end()) {
            assemble::leaveAtXdpOnly(port, failure->second.sentence());
            applied.onlyAtXdp.insert(applied.failures.extract(failure));
        } else if (port.behind) {
            behind_.insert(ifindex);
        }
    return applied;
}

/// A port that changes its hook is Linux's in between: at XDP a program at tcx that is not known is in the
/// way. One that fails at XDP is Linux's at tcx as well, and comes there when it fails no longer.
Applied BothHooks::apply(const assemble::Plan& plan, const model::Network& network) {
    auto possible = plan;
    for (const auto ifindex : failedXdp_)
        if (const auto port = possible.ports.find(ifindex); port != possible.ports.end())
            port->second.behind.reset();
    auto applied = applyBehind(possible, network);
    auto atXdp = xdp_->apply(assemble::partAt(assemble::Hook::xdp, possible), network);
    const auto before = std::exchange(failedXdp_, {});
    for (const auto& [ifindex, port] : plan.ports)
        if (port.behind && atXdp.failures.contains(ifindex))
            failedXdp_.insert(ifindex);
    // Those that failed before get what was planned, but not those left out just now.
    if (failedXdp_ != before) {
        for (const auto& [ifindex, port] : plan.ports)
            if (failedXdp_.contains(ifindex))
                possible.ports.at(ifindex).behind.reset();
            else if (before.contains(ifindex))
                possible.ports.at(ifindex).behind = port.behind;
        auto again = applyBehind(possible, network);
        add(again, applied);
        again.onlyAtXdp.merge(applied.onlyAtXdp);
        applied = std::move(again);
    }
    add(applied, atXdp);
    applied.failures.merge(atXdp.failures);
    return applied;
}

std::map<model::IfIndex, PortCounters> BothHooks::counters() {
    auto all = xdp_->counters();
    if (tcx_)
        for (const auto& [ifindex, counted] : tcx_->counters())
            all[ifindex] += counted;
    return all;
}

std::map<model::IfIndex, std::uint64_t> BothHooks::leftToLinux() const {
    auto all = xdp_->leftToLinux();
    if (tcx_)
        for (const auto& [ifindex, left] : tcx_->leftToLinux())
            all[ifindex] += left;
    return all;
}

bool BothHooks::anyCut() const {
    return xdp_->anyCut() || (tcx_ && tcx_->anyCut());
}

bool BothHooks::attached(model::IfIndex ifindex) const {
    return xdp_->attached(ifindex) || (tcx_ && !behind_.contains(ifindex) && tcx_->attached(ifindex));
}

void BothHooks::forgetFlows() const {
    xdp_->forgetFlows();
    if (tcx_)
        tcx_->forgetFlows();
}

void BothHooks::spare(const std::vector<model::PacketFilter>& filters) {
    xdp_->spare(filters);
    if (tcx_)
        tcx_->spare(filters);
}

Result<Verdict> BothHooks::tryFrame(model::IfIndex port, const std::vector<std::uint8_t>& frame) const {
    if (!xdp_->attached(port) && tcx_ && tcx_->attached(port))
        return tcx_->tryFrame(port, frame);
    auto first = xdp_->tryFrame(port, frame);
    if (!first || first->egress || !tcx_ || !tcx_->attached(port))
        return first;
    auto behind = tcx_->tryFrame(port, frame);
    return behind ? behind : first;
}

} // namespace tna::deploy
