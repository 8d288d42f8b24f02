// SPDX-License-Identifier: Apache-2.0
#include "base/program.hpp"
#include "cli/checks.hpp"
#include "cli/refusal.hpp"
#include "work.hpp"

#include <atomic>
#include <csignal>
#include <fmt/ranges.h>
#include <thread>

namespace {

using namespace tna;

struct Options {
    std::string work;
    std::string name;
    std::string socket;
    std::vector<int> queues;
    std::size_t entries = 1024;
    std::uint64_t count = 0; ///< frames after which it ends; 0: none
    bool busy = false;
};

std::atomic<bool> stopped = false;

struct Outcome {
    int error = 0;
    std::string why;
    tna_function_counts counted{};
};

Outcome serve(const Options& options, int queue) {
    tna_function_options wanted = TNA_FUNCTION_OPTIONS;
    wanted.socket = options.socket.empty() ? nullptr : options.socket.c_str();
    wanted.queue = queue;
    wanted.wait = options.busy ? TNA_FUNCTION_BUSY : TNA_FUNCTION_POLL;
    NetworkFunction function{options.name, wanted};
    if (!function.usable())
        return {function.error(), function.why(), {}};
    if (function.error() != 0)
        fmt::print(stderr, "tna-workload: {}; waiting\n", function.why());
    const auto& names = workload::workNames();
    const auto number = std::ranges::find(names, options.work) - names.begin();
    workload::Worker worker{static_cast<workload::Work>(number), options.entries};
    std::uint64_t seen = 0;
    while (!stopped && (options.count == 0 || seen < options.count)) {
        const auto frames = function.receive(std::chrono::milliseconds(200));
        for (auto& frame : frames)
            worker.treat(function, frame);
        seen += frames.size();
        if (function.error() == EPERM)
            break;
    }
    tna_function_flush(function.get());
    Outcome outcome{function.error() == EINTR ? 0 : function.error(), function.why(), {}};
    tna_function_count(function.get(), &outcome.counted);
    return outcome;
}

int run(int argc, char** argv) {
    Options options;
    CLI::App app{"Does something simple with the frames that tnad steers to it, to measure what that costs."};
    app.add_option("WORK", options.work, fmt::format("{}", fmt::join(workload::workNames(), ", ")))
        ->required()
        ->check(CLI::IsMember(workload::workNames()));
    app.add_option("NAME", options.name, "of the network function, as `tnactl function list` has it")
        ->required();
    app.add_option("--socket", options.socket, "of tnad for network functions");
    app.add_option("--queue", options.queues, "a thread for this queue of each port (default: one for all)")
        ->check(cli::wholeNumber(0, 63));
    app.add_option("--entries", options.entries, "of the table, for lookup")
        ->capture_default_str()
        ->check(cli::wholeNumber(1, 1U << 26U));
    app.add_option("--count", options.count, "end after so many frames (default: never)")
        ->check(cli::wholeNumber(1, cli::mostTimes));
    app.add_flag("--busy", options.busy, "never sleep");
    app.set_version_flag("--version", "tna-workload " TNA_VERSION);
    app.footer("Example: tna-workload macswap mirror --queue 0 --queue 1");
    cli::refuseEmptyWords(app);
    if (const auto ended = cli::parse(app, {argv + std::min(argc, 1), argv + argc}, "tna-workload"))
        return *ended;
    if (options.queues.empty())
        options.queues.push_back(TNA_FUNCTION_QUEUES);
    std::signal(SIGINT, [](int) { stopped = true; });
    std::signal(SIGTERM, [](int) { stopped = true; });
    std::vector<Outcome> outcomes(options.queues.size());
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 1; i < outcomes.size(); i++)
            threads.emplace_back([&, i] { outcomes[i] = serve(options, options.queues[i]); });
        outcomes[0] = serve(options, options.queues[0]);
    }
    int code = 0;
    tna_function_counts sum{};
    for (const auto& [error, why, counted] : outcomes) {
        if (error != 0) {
            fmt::print(stderr, "tna-workload: {}\n", why.empty() ? errnoText(error) : why);
            code = static_cast<int>(error == EPERM ? ExitCode::noPermission : ExitCode::failure);
        }
        sum.received += counted.received;
        sum.sent += counted.sent;
        sum.given_back += counted.given_back;
        sum.dropped += counted.dropped;
        sum.lost += counted.lost;
        sum.invalid += counted.invalid;
    }
    fmt::print("received {}, sent {}, given back {}, dropped {}, lost {}, invalid {}\n", sum.received,
               sum.sent, sum.given_back, sum.dropped, sum.lost, sum.invalid);
    return code;
}

} // namespace

int main(int argc, char** argv) {
    return tna::runProgram("tna-workload", [&] { return run(argc, argv); });
}
