// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/functions/contestant.hpp"
#include "bench/functions/program.hpp"
#include "bench/testbed/temporary_folder.hpp"
#include "bench/testbed/tnad.hpp"

namespace tna::bench {

/// tnad, and tna-workload as its function of the name "work". Members in the order in which they are needed:
/// the function goes before the daemon.
class FunctionContestant : public Contestant {
public:
    /// `rules`: of a firewall or a chain.
    [[nodiscard]] static Result<std::unique_ptr<FunctionContestant>> start(const Contest& contest, bool busy,
                                                                           std::size_t rules);
    Result<Counted> dropped() override;
    std::string complaint() override;
    bool ended() override { return !process_.running(); }
    [[nodiscard]] Tnad& tnad() { return tnad_; }

private:
    FunctionContestant(TemporaryFolder folder, Tnad tnad, ProgramUnderTest process)
        : folder_(std::move(folder)), tnad_(std::move(tnad)), process_(std::move(process)) {}
    TemporaryFolder folder_;
    Tnad tnad_;
    ProgramUnderTest process_;
};

} // namespace tna::bench
