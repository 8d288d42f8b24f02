// SPDX-License-Identifier: Apache-2.0
#include "daemon/way.hpp"

#include "daemon/in_place_way.hpp"
#include "daemon/watched_way.hpp"

namespace tna::daemon {

bool Way::readFeatures() {
    auto& capabilities = observed().capabilities;
    const auto before = capabilities.devices;
    auto devices = kernel().xdpFeatures();
    capabilities.driversTell = devices.has_value();
    if (devices)
        capabilities.devices = std::move(*devices);
    else
        driversDoNotTell(devices.error());
    return before != capabilities.devices;
}

std::unique_ptr<Way> makeWay(Loaded loaded, const WayContext& context) {
    if (context.observed.capabilities.way == capability::Way::inPlace)
        return std::make_unique<InPlaceWay>(std::move(loaded.dataPath), std::move(loaded.reader),
                                            std::move(loaded.filters), context);
    if (!loaded.stations)
        return std::make_unique<WatchedWay>(std::move(loaded.dataPath), std::move(loaded.vlanDevices),
                                            context);
    return std::make_unique<MirroringWay>(std::move(loaded.dataPath), std::move(loaded.vlanDevices),
                                          std::move(*loaded.stations), context);
}

} // namespace tna::daemon
