// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/way.hpp"

#include <initializer_list>
#include <set>
#include <string>

namespace tna::daemon {

/// The kernel is watched over netlink. Where the bridge answers for its stations (decision 17), this is all;
/// else see MirroringWay.
class WatchedWay : public Way {
public:
    WatchedWay(std::unique_ptr<deploy::DataPath> dataPath, std::optional<deploy::VlanDevices> vlanDevices,
               const WayContext& context)
        : Way(std::move(dataPath), context), vlanDevices_(std::move(vlanDevices)) {}

    /// So late is seen at most what nobody announces: packet sockets without promiscuity, tcx, sysctls.
    [[nodiscard]] std::chrono::milliseconds interval() const override {
        return std::chrono::milliseconds(100);
    }
    [[nodiscard]] std::optional<std::string> prepare(Time now) override;
    [[nodiscard]] bool look() override;
    /// Frames are Linux's for as long as it cannot be read what it was told.
    void follow() override;
    void announce() const override;
    [[nodiscard]] bool needsDrivers() const override { return false; }
    [[nodiscard]] bool checksItself() const override { return false; }

private:
    /// Then what is known of drivers has to do.
    void driversDoNotTell(const Error& error) override;
    void readTcx();
    void readVlanDevices();
    [[nodiscard]] std::set<model::IfIndex> bridgesOf(Result<std::set<model::IfIndex>> found) const;
    void readBridges();

    std::optional<deploy::VlanDevices> vlanDevices_;
};

/// Besides, a mirror of all stations is kept for the fast path (decision 15).
class MirroringWay : public WatchedWay {
public:
    MirroringWay(std::unique_ptr<deploy::DataPath> dataPath, std::optional<deploy::VlanDevices> vlanDevices,
                 introspect::Stations stations, const WayContext& context)
        : WatchedWay(std::move(dataPath), std::move(vlanDevices), context), stations_(std::move(stations)) {}

    /// A station may have gone before a port was opened, or come after one was closed. Two tables are not
    /// changed as one: frames are Linux's meanwhile.
    void takeIn() override;
    void follow() override;
    void suspect() override { stations_.suspect(); }
    [[nodiscard]] int fd() const override { return stations_.fd(); }
    void announce() const override;
    [[nodiscard]] std::uint64_t readings() const override { return stations_.stats().readings; }

private:
    using Done = std::initializer_list<const Result<void>*>;
    /// What goes on going wrong is tried ten times a second, and said once.
    void sayWhatIsWrong(Done all);

    introspect::Stations stations_;
    bool saidFull_ = false; ///< that the mirror has no room
    std::string said_;      ///< what went wrong the last time
};

} // namespace tna::daemon
