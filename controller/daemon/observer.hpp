// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/recheck.hpp"
#include "daemon/way.hpp"
#include "introspect/network_source.hpp"

namespace tna::daemon {

/// Reads what Linux sends no message of; recheck.cpp lists what that is.
class Observer {
public:
    using Time = Recheck::Time;

    Observer(introspect::NetworkSource& source, Time now) : source_(source), recheck_(now) {}

    /// Somebody expects that all is as it should be now: nothing that was read before is believed.
    /// Whether all of it could be read.
    [[nodiscard]] bool readAllAgain(Way& way, Time now);
    /// Has read again what is due; true where something is different that is not in the model.
    [[nodiscard]] bool recheck(const assemble::Plan& plan, Way& way, Time now);

private:
    introspect::NetworkSource& source_;
    Recheck recheck_;
};

} // namespace tna::daemon
