// SPDX-License-Identifier: Apache-2.0
#include "program/function_program.hpp"

#include <atomic>
#include <csignal>
#include <fmt/format.h>

namespace tna::program {

namespace {
std::atomic<bool> stopped = false;
}

void addName(CLI::App& app, Common& common) {
    app.add_option("NAME", common.name, "of the network function, as `tnactl function list` has it")
        ->required();
}

void addSocket(CLI::App& app, Common& common) {
    app.add_option("--socket", common.socket, "of tnad for network functions");
}

void addBusy(CLI::App& app, Common& common) {
    app.add_flag("--busy", common.busy, "never sleep");
}

Error whyNot(const NetworkFunction& function) {
    return {function.why().empty() ? errnoText(function.error()) : function.why(),
            {},
            {},
            function.error() == EPERM ? ExitCode::noPermission : ExitCode::failure};
}

Result<NetworkFunction> openFunction(const std::string& program, const Common& common, int queue) {
    tna_function_options wanted = TNA_FUNCTION_OPTIONS;
    wanted.socket = common.socket.empty() ? nullptr : common.socket.c_str();
    wanted.queue = queue;
    wanted.wait = common.busy ? TNA_FUNCTION_BUSY : TNA_FUNCTION_POLL;
    NetworkFunction function{common.name, wanted};
    if (!function.usable())
        return std::unexpected(whyNot(function));
    if (function.error() != 0)
        fmt::print(stderr, "{}: {}; waiting\n", program, function.why());
    return function;
}

void stopOnSignals() {
    std::signal(SIGINT, [](int) { stopped = true; });
    std::signal(SIGTERM, [](int) { stopped = true; });
}

bool isStopped() {
    return stopped;
}

int finish(const std::string& program, const Result<void>& outcome) {
    if (outcome)
        return 0;
    fmt::print(stderr, "{}: {}\n", program, outcome.error().sentence());
    return static_cast<int>(outcome.error().code);
}

} // namespace tna::program
