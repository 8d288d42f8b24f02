// SPDX-License-Identifier: Apache-2.0
#include "program/function_program.hpp"

#include <atomic>
#include <csignal>
#include <fmt/format.h>
#include <optional>
#include <sys/un.h>
#include <tna/function_protocol.h>

namespace tna::program {

namespace {
std::atomic<bool> stopped = false;
}

void addName(CLI::App& app, Common& common) {
    app.add_option("NAME", common.name, "of the network function, as `tnactl function list` has it")
        ->required();
}

void addSocket(CLI::App& app, Common& common) {
    app.add_option("--socket", common.socket,
                   "of tnad for network functions (default: /run/tna/functions.sock)");
}

void addBusy(CLI::App& app, Common& common) {
    app.add_flag("--busy", common.busy, "never sleep: it takes a whole processor");
}

void addExamples(CLI::App& app, const std::string& program, const std::string& examples) {
    app.footer(fmt::format("Examples:\n{}The network function has to be declared: tna-functions.d(5). "
                           "{}(1) has more.",
                           examples, program));
}

Error whyNot(const NetworkFunction& function) {
    return {function.why().empty() ? errnoText(function.error()) : function.why(),
            {},
            {},
            function.error() == EPERM ? ExitCode::noPermission : ExitCode::failure};
}

namespace {
/// What the library takes for invalid without another word.
std::optional<Error> tooLong(const Common& common) {
    constexpr std::size_t longestSocket = sizeof(sockaddr_un::sun_path) - 1;
    if (common.name.size() >= TNA_FUNCTION_NAME)
        return Error{fmt::format("'{}' is too long a name", common.name),
                     {},
                     fmt::format("network functions have {} letters at most", TNA_FUNCTION_NAME - 1),
                     ExitCode::usage};
    if (common.socket.size() > longestSocket)
        return Error{"the name of the socket is too long",
                     {},
                     fmt::format("{} letters are the most that Linux takes", longestSocket),
                     ExitCode::usage};
    return std::nullopt;
}
} // namespace

Result<NetworkFunction> openFunction(const std::string& program, const Common& common, bool givesBack,
                                     int queue) {
    if (const auto wrong = tooLong(common))
        return std::unexpected(*wrong);
    tna_function_options wanted = TNA_FUNCTION_OPTIONS;
    wanted.socket = common.socket.empty() ? nullptr : common.socket.c_str();
    wanted.queue = queue;
    wanted.wait = common.busy ? TNA_FUNCTION_BUSY : TNA_FUNCTION_POLL;
    wanted.gives_back = givesBack ? 1 : 0;
    NetworkFunction function{common.name, wanted};
    if (!function.usable())
        return std::unexpected(whyNot(function));
    if (function.error() != 0)
        tell(program, function.why() + "; waiting");
    return function;
}

void stopOnSignals() {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGINT, [](int) { stopped = true; });
    std::signal(SIGTERM, [](int) { stopped = true; });
}

bool isStopped() {
    return stopped;
}

int finish(const std::string& program, const Result<void>& outcome) {
    if (outcome)
        return 0;
    tell(program, outcome.error().sentence());
    return static_cast<int>(outcome.error().code);
}

} // namespace tna::program
