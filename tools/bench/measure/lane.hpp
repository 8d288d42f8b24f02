// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/measure/sample.hpp"
#include "bench/testbed/devices.hpp"
#include "bench/traffic/tcp_check.hpp"

namespace tna::bench {

/// One contender with a topology of its own, forwarding and verified; all of a match are ready at the
/// same time, so that nothing but the measurement lies between two of them.
class Lane {
public:
    [[nodiscard]] static Result<std::unique_ptr<Lane>> open(std::unique_ptr<Contender> contender,
                                                            const Setup& setup);
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;
    ~Lane();

    [[nodiscard]] Result<Sample> measure(Duration duration);
    [[nodiscard]] Traffic& traffic() { return *traffic_; }
    [[nodiscard]] const Topology& topology() const { return topology_; }
    [[nodiscard]] Contender& contender() { return *contender_; }
    [[nodiscard]] const Setup& setup() const { return setup_; }
    /// Of the devices, as they are while it is measured.
    [[nodiscard]] const std::vector<DeviceFacts>& devices() const { return devices_; }
    /// What a real connection found.
    [[nodiscard]] Tcp tcp() const { return tcp_; }

private:
    Lane(std::unique_ptr<Contender> contender, const Setup& setup, Topology topology)
        : contender_(std::move(contender)), setup_(setup), topology_(std::move(topology)) {}
    [[nodiscard]] Result<void> begin();

    std::unique_ptr<Contender> contender_;
    Setup setup_;
    Topology topology_;
    std::unique_ptr<Traffic> traffic_;
    Tcp tcp_ = Tcp::notTried;
    std::vector<DeviceFacts> devices_;
};

/// The contender of a lane has its turn for as long as this lives, and is paused after it.
class Turn {
public:
    explicit Turn(Contender& contender) : contender_(contender), begun_(contender.resume()) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { contender_.pause(); }
    /// Nothing may be measured if it does not forward.
    [[nodiscard]] const Result<void>& begun() const { return begun_; }

private:
    Contender& contender_;
    Result<void> begun_;
};

} // namespace tna::bench
