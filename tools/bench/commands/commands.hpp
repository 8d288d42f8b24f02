// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "bench/testbed/last_will.hpp"
#include "bench/testbed/scenario.hpp"

#include <functional>
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
void addContainers(CLI::App& app, int& exitCode);
void addMicro(CLI::App& app, int& exitCode);
void addReport(CLI::App& app, int& exitCode);
/// Becomes the command line that a result file has, by `run`.
void addRepeat(CLI::App& app, int& exitCode, const std::function<int(const std::vector<std::string>&)>& run);
void addChange(CLI::App& app, int& exitCode);
// Those of papers, repeated.
void addDelays(CLI::App& app, int& exitCode);
void addTenants(CLI::App& app, int& exitCode);
void addFunctions(CLI::App& app, int& exitCode);

// What the commands have in common.

/// Prints a sentence about a failure; the exit code of the program.
[[nodiscard]] int complain(const std::string& sentence, ExitCode code);
/// What a run needs before anything is made: 0, or an exit code after a sentence. `tnad` becomes the file
/// to run.
[[nodiscard]] int prepare(std::string& tnad);
/// The same without a daemon.
[[nodiscard]] int prepare();
/// Other work on the machine must not decide what is measured: the rest of this program runs in a process of
/// a session of its own, with the highest priority; what it starts does, too.
void takePriority();
/// What killed runs have left and may go: all of it is known by the number of a process that is dead.
struct Leftovers {
    unsigned namespaces = 0;
    unsigned folders = 0;
    unsigned groups = 0;
};
constexpr const char* usualFolder = "/tmp";
Leftovers removeAllLeftovers(const std::string& folder = usualFolder);
/// That of this run goes, too, when it has been killed.
[[nodiscard]] Result<LastWill> leaveNothingBehind(const std::string& folder = usualFolder);
/// The options that say what lies in between, and what goes through it.
void addSetup(CLI::App& command, Setup& setup);
/// Those that say how much there is of what makes forwarding slow; once each.
void addAmounts(CLI::App& command, Setup& setup);
/// What must be so before anything is made: interfaces that are free. 0, or an exit code after a sentence.
[[nodiscard]] int prepareInterfaces(const Setup& setup);
/// The command line, for documents by which the same is measured again.
void rememberArguments(const std::vector<std::string>& words);
void addContenders(CLI::App& command, std::vector<std::string>& contenders);
void addStations(CLI::App& command, unsigned& stations);
/// "--rounds"
void addRounds(CLI::App& command, unsigned& rounds, const char* help);
/// An option that is a time.
void addSeconds(CLI::App& command, const char* name, double& seconds, const char* help);
void addTnad(CLI::App& command, std::string& tnad);
void addSize(CLI::App& command, unsigned& size);
void addSizes(CLI::App& command, std::vector<unsigned>& sizes);
/// With the command line.
void print(nlohmann::json document);

} // namespace tna::bench
