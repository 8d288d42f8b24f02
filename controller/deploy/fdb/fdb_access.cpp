// SPDX-License-Identifier: Apache-2.0
#include "deploy/fdb/fdb_access.hpp"

#include "deploy/fdb/station_mirror.hpp"
#include "deploy/fdb/watched_ports.hpp"

#include <tna/fastpath.h>

namespace tna::deploy {

namespace {
class ReadInPlace : public FdbAccess {
public:
    [[nodiscard]] const char* name() const override { return "in-place"; }
    [[nodiscard]] bool seesEveryFrame() const override { return true; }
    void tell(const assemble::Plan& /*plan*/, const FindPlace& /*placeOf*/, Applied& /*applied*/) override {}
    void forget(model::IfIndex /*ifindex*/) override {}
    void open(bool /*informed*/) override {}
};

/// The bridge answers for its stations; what else the fast path has to know of a port is in a table.
class AskTheBridge : public FdbAccess {
public:
    AskTheBridge(WatchedPorts ports, tna_namespace& home) : ports_(std::move(ports)), home_(home) {}

    [[nodiscard]] const char* name() const override { return "kfunc"; }

    void tell(const assemble::Plan& plan, const FindPlace& placeOf, Applied& applied) override {
        const auto before = ports_.changes();
        for (const auto& [ifindex, port] : plan.ports) {
            if (port.watched)
                ports_.take(ifindex, *port.watched);
            else
                ports_.remove(ifindex);
        }
        for (const auto& [ifindex, port] : plan.ports) {
            const auto place = port.watched ? placeOf(ifindex) : std::nullopt;
            if (!place)
                continue;
            if (auto set = ports_.set(ifindex, place->slot, *port.watched, place->hasProgram); !set)
                applied.failures.emplace(ifindex, set.error());
        }
        applied.swapped += ports_.changes() - before;
    }

    void forget(model::IfIndex ifindex) override { ports_.remove(ifindex); }

    void open(bool informed) override {
        ports_.retry();
        const bool sound = ports_.sound() && stationsAreSound();
        __atomic_store_n(&home_.mirror_complete, informed && sound ? 1U : 0U, __ATOMIC_SEQ_CST);
    }

private:
    [[nodiscard]] virtual bool stationsAreSound() const { return true; }

    WatchedPorts ports_;
    tna_namespace& home_;
};

/// Stations are in a table as well.
class Mirror : public AskTheBridge {
public:
    Mirror(WatchedPorts ports, tna_namespace& home, StationMirror stations)
        : AskTheBridge(std::move(ports), home), stations_(std::move(stations)) {}

    [[nodiscard]] const char* name() const override { return "mirror"; }
    [[nodiscard]] StationTable* mirror() override { return &stations_; }

private:
    [[nodiscard]] bool stationsAreSound() const override { return stations_.sound(); }

    StationMirror stations_;
};

Result<WatchedPorts> openPorts(const PipelineObject& pipeline, unsigned maxPorts) {
    return WatchedPorts::open(pipeline.watchedPorts, pipeline.watchedVlans, maxPorts);
}
} // namespace

std::unique_ptr<FdbAccess> readFdbInPlace() {
    return std::make_unique<ReadInPlace>();
}

Result<std::unique_ptr<FdbAccess>> askBridge(const PipelineObject& pipeline, unsigned maxPorts) {
    auto ports = openPorts(pipeline, maxPorts);
    if (!ports)
        return std::unexpected(ports.error());
    auto asking = std::make_unique<AskTheBridge>(std::move(*ports), *pipeline.home);
    asking->open(true);
    return asking;
}

Result<std::unique_ptr<FdbAccess>> mirrorFdb(const PipelineObject& pipeline, unsigned maxPorts,
                                             unsigned maxStations) {
    auto stations = StationMirror::open(pipeline.stations, pipeline.stationUses, maxStations);
    if (!stations)
        return std::unexpected(stations.error());
    auto ports = openPorts(pipeline, maxPorts);
    if (!ports)
        return std::unexpected(ports.error());
    return std::make_unique<Mirror>(std::move(*ports), *pipeline.home, std::move(*stations));
}

} // namespace tna::deploy
