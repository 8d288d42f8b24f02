// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/file_limit.hpp"
#include "base/program.hpp"
#include "program/function_program.hpp"
#include "server.hpp"

#include <atomic>
#include <csignal>

namespace {

using namespace tna;

/// What the command line says.
struct Options : balancer::Options {
    program::Common common;
};

std::atomic<bool> changed = false; ///< the file, perhaps
std::atomic<bool> asked = false;   ///< for statistics

Result<balancer::Configuration> readConfiguration(const std::string& file) {
    constexpr std::size_t most = 4U << 20U;
    const auto text = readNamedFile(file, most);
    if (!text)
        return std::unexpected(text.error());
    return balancer::parseConfiguration(*text, file);
}

/// What is wrong changes nothing.
void readAgain(balancer::Server& server, const std::string& file) {
    if (auto configuration = readConfiguration(file)) {
        server.reconfigure(std::move(*configuration));
        program::tell("tna-balancer", file + " has been read again");
    } else {
        program::tell("tna-balancer", configuration.error().sentence() + "; all stays as it was");
    }
}

Result<void> serve(const Options& options) {
    constexpr unsigned leastFiles = 64; // each check that runs is one
    if (auto raised = raiseFileLimit("tna-balancer", leastFiles); !raised)
        return raised;
    auto configuration = readConfiguration(options.file);
    if (!configuration)
        return std::unexpected(configuration.error());
    auto function = program::openFunction("tna-balancer", options.common, true);
    if (!function)
        return std::unexpected(function.error());
    balancer::Server server{options, std::move(*configuration), std::move(*function)};
    const std::chrono::seconds interval(options.interval);
    auto told = std::chrono::steady_clock::now();
    while (!program::isStopped()) {
        const auto error = server.serve(std::chrono::milliseconds(200));
        if (error != 0 && error != EINTR && error != EAGAIN)
            return std::unexpected(program::whyNot(server.function()));
        if (changed.exchange(false))
            readAgain(server, options.file);
        const auto now = std::chrono::steady_clock::now();
        if (asked.exchange(false) || (options.interval != 0 && now - told >= interval)) {
            program::show(server.statistics());
            told = now;
        }
    }
    server.flush();
    program::show(server.statistics());
    return {};
}

void describe(CLI::App& app, Options& options) {
    program::addName(app, options.common);
    app.add_option("FILE", options.file, "with services and backends, as tna-balancer(1) shows")->required();
    app.add_option("--interval", options.interval, "seconds between statistics (default: at the end only)")
        ->check(cli::wholeNumber(1, 86400));
    app.add_flag("--json", options.json, "statistics as JSON, a line each");
    program::addSocket(app, options.common);
    program::addBusy(app, options.common);
    app.set_version_flag("--version", "tna-balancer " TNA_VERSION);
    program::addExamples(app, "tna-balancer",
                         "  tna-balancer balancer /etc/tna/balancer.toml\n"
                         "where the file has at least:\n"
                         "  [[service]]\n  address = \"192.0.2.80\"\n  port = 80\n"
                         "  [[service.backend]]\n  address = \"10.0.1.11\"\n");
}

int run(int argc, char** argv) {
    Options options;
    CLI::App app{"Spreads connections over servers, of packets that tnad steers to it."};
    describe(app, options);
    cli::refuseEmptyWords(app);
    if (const auto ended = cli::parse(app, {argv + std::min(argc, 1), argv + argc}, "tna-balancer"))
        return *ended;
    program::stopOnSignals();
    std::signal(SIGHUP, [](int) { changed = true; });
    std::signal(SIGUSR1, [](int) { asked = true; });
    return program::finish("tna-balancer", serve(options));
}

} // namespace

int main(int argc, char** argv) {
    return tna::runProgram("tna-balancer", [&] { return run(argc, argv); });
}
