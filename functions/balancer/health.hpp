// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tna::balancer {

/// Whether something is there, by checks that may fail now and then.
class Health {
public:
    /// `rise` good checks one after the other after which it is there, `fall` bad ones after which it is not.
    Health(bool up, unsigned rise, unsigned fall) : up_(up), rise_(rise), fall_(fall) {}

    /// Of one check; true: it is otherwise now.
    [[nodiscard]] bool report(bool good) {
        against_ = good == up_ ? 0 : against_ + 1;
        if (against_ < (up_ ? fall_ : rise_))
            return false;
        up_ = !up_;
        against_ = 0;
        return true;
    }
    [[nodiscard]] bool up() const { return up_; }

private:
    bool up_;
    unsigned rise_, fall_;
    unsigned against_ = 0; ///< checks in a row that say the opposite
};

} // namespace tna::balancer
