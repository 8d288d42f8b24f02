// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/bpf/work_shared.h"
#include "functions/workload/work.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tna::bench {

/// What becomes of frames, the paper's classes of traffic.
enum class Class {
    returned, ///< pass-through: sent back by the port that they came in by
    dropped,
    local, ///< Linux has them behind the function
};
constexpr std::array<std::string_view, 3> classNames{"returned", "dropped", "local"};
[[nodiscard]] constexpr std::string_view nameOf(Class which) {
    return classNames.at(static_cast<std::size_t>(which));
}

/// What is done with frames, how much of it, and on how many processors.
struct FunctionsCase {
    workload::Work work = workload::Work::macswap;
    Class which = Class::returned;
    /// Times that a checksum is computed, lines or connections in a table; of a chain, per cent of frames
    /// that it drops.
    unsigned size = 0;
    unsigned cpus = 1;
    bool operator==(const FunctionsCase&) const = default;
};

struct FunctionsOptions {
    std::vector<std::string> workloads;   ///< none: all
    std::vector<std::string> classes;     ///< none: all
    std::vector<std::string> contestants; ///< none: all
    std::vector<std::string> rates{"full", "rfc2544"};
    std::vector<unsigned> checksums{1, 16, 64};
    std::vector<unsigned> lines{16, 1024, 32768, 1048576};
    std::vector<unsigned> rules{100, 10000, 1000000};
    std::vector<unsigned> shares{0, 50, 100};
    std::vector<unsigned> cpus{1};
    unsigned rounds = 10;
    double seconds = 0.5; ///< of each measurement at full offer
    double trial = 0.2;   ///< of each rate that is tried
    double loss = 0.1;    ///< per cent that may be lost
    std::string journal;
    std::string tnad;
    std::string workload; ///< the file of tna-workload

    [[nodiscard]] bool measures(std::string_view rate) const;
};

[[nodiscard]] const std::vector<std::string>& functionWorkloads();
/// A chain's connections, as many as in the paper.
constexpr unsigned chainRules = WORK_CHAIN_RULES;
constexpr unsigned chainSessions = 10000;

[[nodiscard]] std::vector<FunctionsCase> functionsCases(const FunctionsOptions& options);
[[nodiscard]] std::string nameOf(workload::Work work);
/// Of what a function does.
[[nodiscard]] workload::WorkSettings settingsOf(const FunctionsCase& one);
/// How many sources frames have that a firewall knows, those of sessions, and which part of frames is from
/// the former.
struct Sources {
    unsigned blocked = 1;
    unsigned sessions = 1;
    double blockedPart = 1;
};
[[nodiscard]] Sources sourcesOf(const FunctionsCase& one);

} // namespace tna::bench
