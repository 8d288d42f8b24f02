// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contender.hpp"
#include "bench/sample.hpp"

namespace tna::bench {

/// One contender with a topology of its own, forwarding and verified; all of a match are ready at the
/// same time, so that nothing but the measurement lies between two of them.
class Lane {
public:
    struct Load {
        unsigned stations = 0;
        unsigned cpus = 0;
        unsigned frameSize = 0;
    };
    [[nodiscard]] static Result<std::unique_ptr<Lane>> open(std::unique_ptr<Contender> contender,
                                                            const Load& load);
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;
    ~Lane();

    [[nodiscard]] Result<Sample> measure(Duration duration);
    [[nodiscard]] Traffic& traffic() { return *traffic_; }

private:
    Lane(std::unique_ptr<Contender> contender, const Load& load, BridgeTopology topology)
        : contender_(std::move(contender)), load_(load), topology_(std::move(topology)) {}
    [[nodiscard]] Result<void> begin();

    std::unique_ptr<Contender> contender_;
    Load load_;
    BridgeTopology topology_;
    std::unique_ptr<Traffic> traffic_;
};

} // namespace tna::bench
