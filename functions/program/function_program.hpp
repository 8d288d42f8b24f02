// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "cli/checks.hpp"
#include "cli/refusal.hpp"
#include "program/messages.hpp"

#include <string>
#include <tna/function.hpp>

/// What the programs that are network functions have in common.
namespace tna::program {

/// Of the command line.
struct Common {
    std::string name;   ///< of the network function
    std::string socket; ///< of tnad; "": the usual one
    bool busy = false;  ///< never sleeps
};
void addName(CLI::App& app, Common& common);
void addSocket(CLI::App& app, Common& common);
void addBusy(CLI::App& app, Common& common);
/// Below the options, lines with examples, and where more is to be read.
void addExamples(CLI::App& app, const std::string& program, const std::string& examples);

/// Connects, or says on stderr what it waits for. An error: it is of no use to wait.
/// One that gives back does not connect while there is no way back.
[[nodiscard]] Result<NetworkFunction> openFunction(const std::string& program, const Common& common,
                                                   bool givesBack, int queue = TNA_FUNCTION_QUEUES);
/// Why a function has ended.
[[nodiscard]] Error whyNot(const NetworkFunction& function);

/// SIGINT and SIGTERM end the program when it next looks; who reads what it says may go away (SIGPIPE).
void stopOnSignals();
[[nodiscard]] bool isStopped();

/// The program's exit code; an error is told.
[[nodiscard]] int finish(const std::string& program, const Result<void>& outcome);

} // namespace tna::program
