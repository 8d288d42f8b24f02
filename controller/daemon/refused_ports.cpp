// SPDX-License-Identifier: Apache-2.0
#include "daemon/refused_ports.hpp"

#include "assemble/devices.hpp"

#include <algorithm>
#include <cstring>
#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
bool anyMayRefuse(const assemble::Plan& plan, const model::Network& network) {
    return std::ranges::any_of(plan.ports, [&](const auto& item) {
        const auto* link = network.link(item.first);
        return item.second.egress && link != nullptr && assemble::mayRefuse(*link);
    });
}

assemble::Reason reasonOf(const model::Link& link, const deploy::Refusal& refusal) {
    return {"egress-refused",
            fmt::format("its driver has refused {} redirected frames, the first on processor {}: {}",
                        refusal.frames, refusal.cpu, std::strerror(refusal.error)),
            fmt::format("it may have fewer transmit queues than there are processors (`ethtool -l {}`); then "
                        "`tnactl resume {}`",
                        link.name, link.name)};
}
} // namespace

bool RefusedPorts::watch(const deploy::DataPath& dataPath, const assemble::Plan& plan,
                         const model::Network& network) {
    if (refusals_ || blind_ || !anyMayRefuse(plan, network))
        return false;
    auto watching = dataPath.watchRefusals();
    if (watching) {
        refusals_ = std::move(*watching);
        return false;
    }
    blind_ = watching.error().sentence();
    spdlog::warn("{}; nothing is redirected to ports whose drivers may do so", *blind_);
    return true;
}

bool RefusedPorts::follow(const model::Network& network, Reporter& reporter) {
    if (!refusals_)
        return false;
    const auto back = std::erase_if(reasons_, [&](const auto& item) {
        const auto* link = network.link(item.first);
        const bool over = link == nullptr || !link->up();
        if (over)
            refusals_->forget(item.first);
        return over;
    });
    bool more = false;
    for (const auto& [ifindex, refusal] : refusals_->read()) {
        const auto* link = network.link(ifindex);
        if (link == nullptr || reasons_.contains(ifindex))
            continue;
        more = true;
        reasons_[ifindex] = reasonOf(*link, refusal);
        reporter.redirectsRefused(link->name, refusal, reasons_[ifindex]);
    }
    return more || back > 0;
}

void RefusedPorts::forget() {
    if (refusals_)
        for (const auto& [ifindex, reason] : reasons_)
            refusals_->forget(ifindex);
    reasons_.clear();
}

void RefusedPorts::startOver() {
    refusals_.reset();
    blind_.reset();
}

} // namespace tna::daemon
