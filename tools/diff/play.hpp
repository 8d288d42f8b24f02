// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/compare.hpp"
#include "diff/fast_path.hpp"
#include "wires/one_cpu.hpp"

namespace tna::diff {

struct Options {
    std::string fdb = "auto"; ///< how stations are found, as in the daemon's configuration
    std::string hook = "xdp"; ///< where ports are accelerated; or "tcx"
    bool keep = false;        ///< what comes out, for files
};

/// How a case went.
struct Outcome {
    std::optional<Difference> difference;
    std::string impossible;    ///< why the case cannot be had on this machine; nothing was compared then
    bool watched = false;      ///< the kernel is not read in place, and packets are not routed
    std::uint64_t packets = 0; ///< sent into each world
    std::uint64_t out = 0;     ///< came out of the plain one
    unsigned reordered = 0;
    Figures figures;
    std::vector<Packet> plain; ///< what came out of ports, if it was to be kept
    std::vector<Packet> fast;
};

/// Where cases are played, one after the other. The calling thread stays on its CPU.
class Stage {
public:
    [[nodiscard]] static Result<Stage> make();
    /// In two new worlds. Commands before the first frame must not fail in either of them: where they do, in
    /// both, the case is impossible here.
    [[nodiscard]] Result<Outcome> play(const Case& what, const Options& options) const;

private:
    explicit Stage(FarSide far) : pinned_(std::make_unique<wires::OneCpu>()), far_(std::move(far)) {}
    std::unique_ptr<wires::OneCpu> pinned_;
    FarSide far_;
};

} // namespace tna::diff
