// SPDX-License-Identifier: Apache-2.0
#include "base/program.hpp"
#include "program/function_program.hpp"
#include "service.hpp"

#include <atomic>
#include <csignal>

namespace {

using namespace tna;

/// What the command line says.
struct Options : nat64::Options {
    program::Common common;
};

std::atomic<bool> asked = false; ///< for statistics

Result<void> serve(const Options& options) {
    auto settings = nat64::settingsOf(options);
    if (!settings)
        return std::unexpected(settings.error());
    auto function = program::openFunction("tna-nat64", options.common, options.givesBack());
    if (!function)
        return std::unexpected(function.error());
    nat64::Service service{options, std::move(*settings), std::move(*function)};
    const std::chrono::seconds interval(options.interval);
    auto told = std::chrono::steady_clock::now();
    while (!program::isStopped()) {
        const auto error = service.serve(std::chrono::milliseconds(200));
        if (error != 0 && error != EINTR && error != EAGAIN)
            return std::unexpected(program::whyNot(service.function()));
        const auto now = std::chrono::steady_clock::now();
        if (asked.exchange(false) || (options.interval != 0 && now - told >= interval)) {
            program::show(service.statistics());
            told = now;
        }
    }
    service.flush();
    program::show(service.statistics());
    return {};
}

void describe(CLI::App& app, Options& options) {
    program::addName(app, options.common);
    app.add_option("--prefix", options.prefix, "of IPv6 addresses that stand for IPv4 addresses")
        ->capture_default_str();
    app.add_option("--pool", options.pool,
                   "stateful: IPv4 addresses that IPv6 hosts share, ADDRESS[/LENGTH][:FIRST-LAST]")
        ->allow_extra_args(false);
    app.add_option("--map", options.maps, "stateless: IPV4=IPV6, two addresses that stand for each other")
        ->allow_extra_args(false);
    app.add_option("--inside", options.inside,
                   "stateless: IPv4 addresses of IPv6 hosts that have them in theirs, a prefix")
        ->allow_extra_args(false);
    app.add_option("--error-source", options.errorSource,
                   "stateless: IPv4 address for ICMP errors of routers that have none");
    app.add_option("--then", options.then,
                   "what becomes of frames: send (by the port they came in by), back (to Linux)")
        ->capture_default_str()
        ->check(CLI::IsMember({"send", "back"}));
    app.add_option("--sessions", options.sessions, "at most")
        ->capture_default_str()
        ->check(cli::wholeNumber(1, 1U << 24U));
    app.add_flag("--filter", options.filter, "from IPv4, only by whom has been sent to");
    app.add_option("--mtu", options.mtu6, "that all of IPv6 has; longer packets are split if they may be")
        ->capture_default_str()
        ->check(cli::wholeNumber(1280, 9000));
    app.add_flag("--allow-private", options.allowPrivate, "private IPv4 addresses in 64:ff9b::/96");
    app.add_flag("--drop-zero-checksum", options.dropZeroChecksum,
                 "UDP over IPv4 without a checksum, which else gets one");
    app.add_option("--interval", options.interval, "seconds between statistics (default: at the end only)")
        ->check(cli::wholeNumber(1, 86400));
    app.add_flag("--json", options.json, "statistics as JSON, a line each");
    program::addSocket(app, options.common);
    program::addBusy(app, options.common);
    app.set_version_flag("--version", "tna-nat64 " TNA_VERSION);
    program::addExamples(
        app, "tna-nat64",
        "  tna-nat64 nat64 --pool 192.0.2.1                  IPv6 hosts share an address\n"
        "  tna-nat64 nat64 --pool 192.0.2.1:20000-29999      and some of its ports only\n"
        "  tna-nat64 nat64 --map 192.0.2.8=2001:db8::8       one has an address of its own\n");
}

int run(int argc, char** argv) {
    Options options;
    CLI::App app{"Translates between IPv6 and IPv4 what tnad steers to it."};
    describe(app, options);
    cli::refuseEmptyWords(app);
    if (const auto ended = cli::parse(app, {argv + std::min(argc, 1), argv + argc}, "tna-nat64"))
        return *ended;
    program::stopOnSignals();
    std::signal(SIGUSR1, [](int) { asked = true; });
    return program::finish("tna-nat64", serve(options));
}

} // namespace

int main(int argc, char** argv) {
    return tna::runProgram("tna-nat64", [&] { return run(argc, argv); });
}
