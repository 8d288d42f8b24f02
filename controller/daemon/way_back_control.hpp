// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/function_connections.hpp"
#include "daemon/way_back_link.hpp"

namespace tna::daemon {

/// The way back to Linux for frames of network functions, while there are functions.
class WayBackControl {
public:
    explicit WayBackControl(FunctionConnections& connections) : connections_(connections) {}

    /// Without it functions that only send work as well; those that give frames back do not connect.
    void make(const deploy::Steering& steering);
    void takeAway();
    /// Makes it anew if somebody has taken its veths away: true. Who had it is ended, and connects again.
    [[nodiscard]] bool renewIfGone(deploy::Steering& steering);
    /// Lets functions receive what others give on, if there is a way back.
    [[nodiscard]] Result<void> letReceive();

    [[nodiscard]] bool isThere() const { return way_.has_value(); }
    /// Why there is none, "" if nobody has failed to make it.
    [[nodiscard]] const std::string& whyNot() const { return whyNot_; }

private:
    FunctionConnections& connections_;
    std::optional<deploy::WayBack> way_;
    std::optional<WayBackLink> link_; ///< goes first
    std::string whyNot_;
};

} // namespace tna::daemon
