// SPDX-License-Identifier: Apache-2.0
#include "api/metrics_server.hpp"
#include "api/server.hpp"
#include "base/file_limit.hpp"
#include "base/printable.hpp"
#include "base/program.hpp"
#include "config/config.hpp"
#include "config/sockets.hpp"
#include "daemon/controller.hpp"
#include "daemon/event_loop.hpp"
#include "daemon/function_server.hpp"
#include "daemon/handover.hpp"
#include "daemon/journal.hpp"
#include "deploy/kernel/requirements.hpp"
#include "deploy/programs/libbpf_log.hpp"

#include <cerrno>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>

namespace {

using namespace tna;

struct Options {
    std::string config = "/etc/tna/tnad.conf";
    bool configNamed = false;
    std::string socket;
    std::string logLevel;
    bool checkOnly = false;
};

int complain(const Error& error) {
    fmt::print(stderr, "tnad: {}\n", printable(error.sentence()));
    return static_cast<int>(error.code);
}

/// Without a file at the default place, the defaults hold.
Result<config::Config> configFor(const Options& options) {
    auto loaded = !options.configNamed && !std::filesystem::exists(options.config)
                      ? Result<config::Config>{config::Config{}}
                      : config::loadConfig(options.config);
    if (!loaded)
        return loaded;
    if (!options.socket.empty() && !config::isControlSocket(options.socket))
        return std::unexpected(
            Error{fmt::format("the socket path {} is too long", options.socket),
                  fmt::format("{} bytes are the most, of the socket for network functions beside it, too",
                              config::longestSocket),
                  "choose another --socket", ExitCode::usage});
    if (!options.socket.empty())
        loaded->daemon.socket = options.socket;
    if (!options.logLevel.empty())
        loaded->daemon.logLevel = options.logLevel;
    return loaded;
}

/// A port takes three. With less than what all else takes, and some ports and connections, it would start and
/// then answer nobody.
constexpr unsigned leastFiles = 256;

int run(const Options& options) {
    auto config = configFor(options);
    if (!config)
        return complain(config.error());
    if (options.checkOnly)
        return static_cast<int>(ExitCode::ok);
    spdlog::set_default_logger(daemon::makeLogger());
    spdlog::set_level(spdlog::level::from_str(config->daemon.logLevel));
    deploy::captureLibbpfMessages();
    if (auto raised = raiseFileLimit("tnad", leastFiles); !raised)
        return complain(raised.error());
    daemon::blockSignals();
    if (auto missing = deploy::missingRequirement(deploy::thisMachine()))
        return complain(*missing);
    // Before anything of the network is touched: who cannot be asked is not to work beside another one.
    auto listening = api::listenOn(config->daemon.socket, config->daemon.socketGroup);
    if (!listening)
        return complain(listening.error());
    auto forFunctions = api::listenForAnybody(config::functionSocketBeside(config->daemon.socket));
    if (!forFunctions)
        return complain(forFunctions.error());
    Result<UniqueFd> forMetrics;
    if (!config->metrics.listen.empty())
        forMetrics = api::MetricsServer::listen(config->metrics.listen);
    if (!forMetrics)
        return complain(forMetrics.error());
    auto controller = daemon::Controller::start(*config, {}, daemon::takeHandedOver());
    if (!controller)
        return complain(controller.error());
    auto server = api::Server::start(**controller, std::move(*listening),
                                     {config->daemon.socketGroup, config->daemon.changeGroup});
    if (!server)
        return complain(server.error());
    std::unique_ptr<api::MetricsServer> metrics;
    if (*forMetrics) {
        auto started =
            api::MetricsServer::start([&] { return (*controller)->status(); }, std::move(*forMetrics));
        if (!started)
            return complain(started.error());
        metrics = std::move(*started);
    }
    auto functions = daemon::FunctionServer::start((*controller)->functions(), std::move(*forFunctions));
    if (!functions)
        return complain(functions.error());
    ::sd_notify(0, "READY=1");
    const auto reload = [&] { (*controller)->setConfig(configFor(options)); };
    const auto ended = daemon::runEventLoop(**controller, reload);
    ::sd_notify(0, "STOPPING=1");
    functions->reset();
    server->reset(); // nobody changes anything any more
    daemon::handOver((*controller)->handOver());
    return ended ? static_cast<int>(ExitCode::ok) : complain(ended.error());
}

int parseAndRun(int argc, char** argv) {
    Options options;
    CLI::App app{"Transparent network acceleration: keeps an XDP fast path in front of what Linux is "
                 "configured to do."};
    app.add_option("--config", options.config, "configuration file")->capture_default_str();
    app.add_option("--socket", options.socket, "control socket (default: as configured)");
    app.add_option("--log-level", options.logLevel,
                   "how much is told, from all to nothing (default: as configured)")
        ->check(CLI::IsMember(config::logLevels()));
    app.add_flag("--check-config", options.checkOnly, "check the configuration file and exit");
    app.footer("Examples:\n"
               "  tnad --check-config --config new.conf    is this file in order?\n"
               "  tnad --log-level debug                   in the foreground, with all that happens\n"
               "`tnactl status` shows what it does.\n"
               "Exit codes: 0 stopped, 1 failed, 2 wrong usage or configuration, 3 no permission, "
               "4 the kernel lacks something.");
    app.set_version_flag("--version", "tnad " TNA_VERSION);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0)
            return app.exit(error); // --help, --version
        return complain({error.what(), {}, "`tnad --help` shows the usage", ExitCode::usage});
    }
    options.configNamed = app.count("--config") > 0;
    return run(options);
}

} // namespace

int main(int argc, char** argv) {
    return tna::runProgram("tnad", [&] { return parseAndRun(argc, argv); });
}
