// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/commands/measurement.hpp"
#include "bench/results/analysis.hpp"

namespace tna::bench {

/// A study's document, with what is found in it, or its text. The machine under test is null where it is this
/// one.
[[nodiscard]] inline int showStudy(nlohmann::json document, bool json, const nlohmann::json& machine,
                                   bool interrupted, const nlohmann::json& underTest = {}) {
    const auto analysis = analyse(document);
    document["analysis"] = analysis ? analysis->found : nlohmann::json();
    if (json)
        print(document);
    else if (analysis)
        fmt::print("{}\n{}{}", machineLine(machine),
                   underTest.is_null() ? "" : "under test: " + machineLine(underTest) + '\n', analysis->text);
    if (!analysis)
        return complain(analysis.error().sentence(), ExitCode::notSupported);
    return interruptedOr(0, interrupted);
}

} // namespace tna::bench
