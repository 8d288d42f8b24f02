// SPDX-License-Identifier: Apache-2.0
#include "daemon/way_back_control.hpp"

#include <spdlog/spdlog.h>

namespace tna::daemon {

void WayBackControl::make(const deploy::Steering& steering) {
    auto link = WayBackLink::make(backQueues);
    auto way = link ? deploy::WayBack::attach(link->outOf(), steering) : std::unexpected(link.error());
    if (!way) {
        whyNot_ = way.error().sentence();
        spdlog::warn("network functions cannot give frames back to Linux: {}", whyNot_);
        return;
    }
    link_.emplace(std::move(*link));
    way_.emplace(std::move(*way));
    connections_.useWayBack(link_->into(), &*way_);
}

void WayBackControl::takeAway() {
    connections_.useWayBack(0, nullptr);
    link_.reset();
    way_.reset();
    whyNot_.clear();
}

bool WayBackControl::renewIfGone(deploy::Steering& steering) {
    if (!link_ || link_->lasts())
        return false;
    spdlog::warn("somebody has taken away the veths by which network functions give frames back to Linux: "
                 "they are made again");
    connections_.endThoseThatGiveBack(steering);
    takeAway();
    make(steering);
    return true;
}

Result<void> WayBackControl::letReceive() {
    return way_ ? way_->letReceive(link_->into()) : Result<void>{};
}

} // namespace tna::daemon
