// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "bench/scenario.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace CLI {
class App;
}

namespace tna::bench {

// Each adds a command that measures, prints, and sets the exit code.
void addThroughput(CLI::App& app, int& exitCode);
void addLatency(CLI::App& app, int& exitCode);
void addRfc2544(CLI::App& app, int& exitCode);
void addKill(CLI::App& app, int& exitCode);
void addReaction(CLI::App& app, int& exitCode);
void addMicro(CLI::App& app, int& exitCode);
void addReport(CLI::App& app, int& exitCode);

// What the commands have in common.

/// Prints a sentence about a failure; the exit code of the program.
[[nodiscard]] int complain(const std::string& sentence, ExitCode code);
/// What a run needs before anything is made: 0, or an exit code after a sentence. `tnad` becomes the file
/// to run.
[[nodiscard]] int prepare(std::string& tnad);
/// Other work on the machine must not decide what is measured: the rest of this program runs in a process of
/// a session of its own, with the highest priority; what it starts does, too.
void takePriority();
/// The options that say what lies in between, and what goes through it.
void addSetup(CLI::App& command, Setup& setup);
void addContenders(CLI::App& command, std::vector<std::string>& contenders);
void addStations(CLI::App& command, unsigned& stations);
void addTnad(CLI::App& command, std::string& tnad);
void addSize(CLI::App& command, unsigned& size);
void addSizes(CLI::App& command, std::vector<unsigned>& sizes);
void print(const nlohmann::json& document);

} // namespace tna::bench
