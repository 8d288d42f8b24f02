// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/way.hpp"

namespace tna::daemon {

/// The kernel is read in place, for every frame: as soon as it is proved that what is read there is what
/// netlink says.
class InPlaceWay : public Way {
public:
    InPlaceWay(std::unique_ptr<deploy::DataPath> dataPath, std::unique_ptr<capability::InPlaceReader> reader,
               std::optional<deploy::PacketFilters> filters, const WayContext& context)
        : Way(std::move(dataPath), context), reader_(std::move(reader)), filters_(std::move(filters)) {}

    [[nodiscard]] std::chrono::milliseconds interval() const override { return std::chrono::seconds(1); }
    [[nodiscard]] std::optional<std::string> prepare(Time now) override;
    /// Whether the proof still has to be found. Of packet sockets' filters nobody tells.
    [[nodiscard]] bool look() override;
    void follow() override {}
    void announce() const override {}
    [[nodiscard]] bool needsDrivers() const override { return true; }
    [[nodiscard]] bool checksItself() const override { return true; }

private:
    void driversDoNotTell(const Error& error) override;
    [[nodiscard]] std::optional<std::string> proveFdb(Time now);
    [[nodiscard]] std::optional<bool> isDisproved();

    void readFilters();

    std::unique_ptr<capability::InPlaceReader> reader_;
    std::optional<deploy::PacketFilters> filters_;
    std::optional<Time> disprovedSince_;
};

} // namespace tna::daemon
