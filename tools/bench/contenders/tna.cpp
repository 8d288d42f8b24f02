// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/make.hpp"
#include "bench/testbed/tnad.hpp"

#include <algorithm>

namespace tna::bench {

namespace {
/// That are remembered; more than flows, for they are remembered by each processor.
constexpr unsigned fewestConnections = 65536;

/// The daemon itself; ended with its lane, so that nothing of it is left.
class Tna : public Contender {
public:
    Tna(std::string file, TnadWay way, const Setup& setup)
        : file_(std::move(file)), way_(std::move(way)), ports_(setup.ports),
          connections_(filters(setup.scenario) ? std::max(fewestConnections, 2 * setup.flows) : 0) {}
    Result<void> start(Traffic&) override {
        auto started = Tnad::start(file_, way_, connections_);
        if (!started)
            return std::unexpected(started.error());
        tnad_.emplace(std::move(*started));
        return tnad_->waitAccelerated(ports_);
    }
    void stop() override { tnad_.reset(); }
    double cpuSeconds() const override { return tnad_ ? tnad_->process().cpuSeconds() : 0; }
    Result<std::optional<std::uint64_t>> slowFrames() override {
        const auto port = tnad_->port("d0");
        if (!port)
            return std::unexpected(port.error());
        return (*port)["slow_packets"].get<std::uint64_t>();
    }

private:
    std::string file_;
    TnadWay way_;
    unsigned ports_;
    unsigned connections_;
    std::optional<Tnad> tnad_;
};
} // namespace

std::unique_ptr<Contender> makeTna(const std::string& file, const std::string& fdb, const Setup& setup) {
    return std::make_unique<Tna>(file, TnadWay{.fdb = fdb}, setup);
}

std::unique_ptr<Contender> makeTnaAtTcx(const std::string& file, const Setup& setup) {
    return std::make_unique<Tna>(file, TnadWay{.tcx = true}, setup);
}

} // namespace tna::bench
