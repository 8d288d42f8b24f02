// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/functions/far_side.hpp"

#include <functional>
#include <memory>
#include <string>

namespace tna::bench {

struct Counted {
    std::uint64_t frames = 0;
    double seconds = 0; ///< when they were counted (CLOCK_MONOTONIC)
};
[[nodiscard]] double monotonicNow();

/// Who does something with frames, for as long as it lives.
class Contestant {
public:
    virtual ~Contestant() = default;
    /// Frames that it has dropped.
    [[nodiscard]] virtual Result<Counted> dropped() { return Counted{0, monotonicNow()}; }
    /// Why frames may not come back.
    [[nodiscard]] virtual std::string complaint() { return {}; }
    /// A process of its own, which has ended.
    [[nodiscard]] virtual bool ended() { return false; }
};

/// What all contestants are made of.
struct Contest {
    const FarSide& side;
    const FunctionsCase& one;
    std::string tnad;
    std::string workload; ///< the file of tna-workload
};
using Started = Result<std::unique_ptr<Contestant>>;

/// One way to do what a case is about.
struct ContestantKind {
    std::string name;
    std::string words; ///< what it is
    /// Why it does not do that; empty: it does.
    std::function<std::string(const FunctionsCase&)> whyNot;
    std::function<Started(const Contest&)> start;
};
[[nodiscard]] const std::vector<ContestantKind>& contestantKinds();
/// What of the paper's experiment is left out here, and why.
struct LeftOut {
    std::string setting;
    std::string reason;
};
[[nodiscard]] const std::vector<LeftOut>& leftOut();

/// linux: a program with an ordinary packet socket; a firewall's nftables; or nobody.
[[nodiscard]] Started startPacketSocket(const Contest& contest);
[[nodiscard]] Started startNftables(const Contest& contest);
[[nodiscard]] Started startNobody(const Contest& contest);
/// A firewall in XDP before the rest of a chain in tna-workload, which sleeps in poll().
[[nodiscard]] Started startHybrid(const Contest& contest);
/// In the kernel; `withSocket`: while an AF_XDP socket, which gets nothing, is bound to the queue.
[[nodiscard]] Started startXdp(const Contest& contest, bool withSocket);
/// tna-workload and tnad, which sleeps in poll() or does not.
[[nodiscard]] Started startFunction(const Contest& contest, bool busy);
/// A program of this benchmark that uses libxdp; `mode`: poll, busy or sysc.
[[nodiscard]] Started startByHand(const Contest& contest, const std::string& mode);
/// DPDK's own program, by its driver for AF_XDP.
[[nodiscard]] Started startTestpmd(const Contest& contest);

/// Frames that a program in user space has memory for, half of them for those that wait.
constexpr unsigned frameMemory = 8192;

/// A number of 64 bits in a file that somebody else counts in.
[[nodiscard]] Result<Counted> countedIn(const std::string& file, std::size_t place);

} // namespace tna::bench
