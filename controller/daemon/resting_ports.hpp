// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/assemble.hpp"
#include "base/backoff.hpp"
#include "deploy/results/data_path.hpp"

namespace tna::daemon {

/// Ports at tcx whose programs look at many frames and forward few of them, as where a container talks to
/// this machine itself. That costs more than it gains, so Linux has such a port to itself for a while. It is
/// tried again later, for nobody sees meanwhile what could be forwarded.
class RestingPorts {
public:
    using Time = Backoff::Time;
    static constexpr std::chrono::seconds span{5}; ///< frames are counted for so long
    static constexpr unsigned many = 1000;         ///< frames in a second that the program looked at in vain
    static constexpr unsigned worth = 2; ///< in so many of those, one that it forwards is worth them
    static constexpr std::chrono::seconds shortest{60};
    static constexpr std::chrono::seconds longest{960};

    explicit RestingPorts(Time now) : countedAt_(now) {}
    /// Whether ports begin or end to rest.
    [[nodiscard]] bool follow(deploy::DataPath& dataPath, const assemble::Plan& plan, Time now);
    /// All of them are tried again.
    void forget();

    /// Why a port rests, by the name that it has now.
    [[nodiscard]] std::map<model::IfIndex, assemble::Reason> reasons(const model::Network& network) const;

private:
    struct Counted {
        std::uint64_t left = 0;
        std::optional<std::uint64_t> forwarded; ///< read where many were left: that takes longer
    };
    using Counts = std::map<model::IfIndex, Counted>;
    struct Rest {
        std::chrono::seconds length{};
        Time until;
        std::string why;
        bool over = false;
    };
    [[nodiscard]] bool wake(const assemble::Plan& plan, Time now);
    [[nodiscard]] std::map<model::IfIndex, std::uint64_t> lookAtInVain(const deploy::DataPath& dataPath,
                                                                       const assemble::Plan& plan,
                                                                       const Counts& before,
                                                                       std::chrono::seconds elapsed);
    [[nodiscard]] std::chrono::seconds lengthOfNext(model::IfIndex ifindex, Time now) const;

    Time countedAt_;
    Counts before_;
    std::map<model::IfIndex, Rest> rests_; ///< and the last ones of those that are awake
};

} // namespace tna::daemon
