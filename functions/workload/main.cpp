// SPDX-License-Identifier: Apache-2.0
#include "base/program.hpp"
#include "counts.hpp"
#include "program/function_program.hpp"
#include "work.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <optional>
#include <thread>

namespace {

using namespace tna;

struct Options {
    std::string work;
    program::Common common;
    std::vector<int> queues;
    std::string then = "send";
    std::string counts;
    workload::WorkSettings settings;
    std::uint64_t count = 0; ///< frames after which it ends; 0: none
};

struct Outcome {
    Result<void> ended;
    tna_function_counts counted{};
};

/// A worker, and what becomes of its frames.
class Treatment {
public:
    explicit Treatment(const Options& options)
        : work_(static_cast<workload::Work>(std::ranges::find(workload::workNames(), options.work) -
                                            workload::workNames().begin())),
          then_(options.then), worker_(work_, options.settings) {}

    void treat(NetworkFunction& function, tna_frame& frame, workload::SharedCounts::Counts& counts) {
        counts[0]++;
        switch (work_) {
        case workload::Work::drop:
            return drop(function, frame, counts);
        case workload::Work::back:
            return giveBack(function, frame, counts);
        case workload::Work::forward:
            return send(function, frame, (frame.port + 1U) % std::max(tna_function_ports(function.get()), 1U),
                        counts);
        default:
            break;
        }
        const bool passes = worker_.treat({frame.data, frame.length});
        if (!passes || then_ == "drop")
            drop(function, frame, counts);
        else if (then_ == "back")
            giveBack(function, frame, counts);
        else
            send(function, frame, frame.port, counts);
    }

private:
    using Counts = workload::SharedCounts::Counts;
    static void drop(NetworkFunction& function, tna_frame& frame, Counts& counts) {
        function.drop(frame);
        counts[3]++;
    }
    static void giveBack(NetworkFunction& function, tna_frame& frame, Counts& counts) {
        counts[2] += function.giveBack(frame) ? 1 : 0;
    }
    static void send(NetworkFunction& function, tna_frame& frame, unsigned port, Counts& counts) {
        counts[1] += function.send(frame, port) ? 1 : 0;
    }
    workload::Work work_;
    std::string then_;
    workload::Worker worker_;
};

Outcome serve(const Options& options, const workload::SharedCounts& shared, int queue) {
    auto opened = program::openFunction("tna-workload", options.common,
                                        options.work == "back" || options.then == "back", queue);
    if (!opened)
        return {std::unexpected(opened.error()), {}};
    auto& function = *opened;
    Treatment treatment{options};
    std::uint64_t seen = 0;
    while (!program::isStopped() && (options.count == 0 || seen < options.count)) {
        const auto frames = function.receive(std::chrono::milliseconds(200));
        workload::SharedCounts::Counts counts{};
        for (auto& frame : frames)
            treatment.treat(function, frame, counts);
        shared.add(counts);
        seen += frames.size();
        if (function.error() == EPERM)
            break;
    }
    tna_function_flush(function.get());
    Outcome outcome;
    if (function.error() != 0 && function.error() != EINTR)
        outcome.ended = std::unexpected(program::whyNot(function));
    tna_function_count(function.get(), &outcome.counted);
    return outcome;
}

int run(int argc, char** argv) {
    Options options;
    CLI::App app{"Does something simple with the frames that tnad steers to it, to measure what that costs."};
    app.add_option("WORK", options.work, fmt::format("{}", fmt::join(workload::workNames(), ", ")))
        ->required()
        ->check(CLI::IsMember(workload::workNames()));
    program::addName(app, options.common);
    program::addSocket(app, options.common);
    app.add_option("--queue", options.queues, "a thread for this queue of each port (default: one for all)")
        ->allow_extra_args(false)
        ->check(cli::wholeNumber(0, 63));
    app.add_option("--entries", options.settings.entries,
                   "lines of 64 bytes of lookup's table, connections that firewall and chain drop (0: none)")
        ->capture_default_str()
        ->check(cli::wholeNumber(0, workload::mostFlows));
    app.add_option("--sessions", options.settings.sessions, "that chain knows a backend of")
        ->capture_default_str()
        ->check(cli::wholeNumber(1, workload::mostFlows));
    app.add_option("--times", options.settings.times, "that checksum computes it")
        ->capture_default_str()
        ->check(cli::wholeNumber(1, 1000));
    app.add_option("--then", options.then, "what becomes of frames that are not dropped: send, back, drop")
        ->capture_default_str()
        ->check(CLI::IsMember({"send", "back", "drop"}).description(""));
    app.add_option("--counts", options.counts, "a file of what has become of frames, kept up to date");
    app.add_option("--count", options.count, "end after so many frames (default: never)")
        ->check(cli::wholeNumber(1, cli::mostTimes));
    program::addBusy(app, options.common);
    app.set_version_flag("--version", "tna-workload " TNA_VERSION);
    program::addExamples(
        app, "tna-workload",
        "  tna-workload macswap mirror                      sends each frame back\n"
        "  tna-workload macswap mirror --queue 0 --queue 1  the same by two threads\n"
        "  tna-workload firewall filter --then back         drops some, the rest is Linux's\n");
    cli::refuseEmptyWords(app);
    if (const auto ended = cli::parse(app, {argv + std::min(argc, 1), argv + argc}, "tna-workload"))
        return *ended;
    for (const int queue : options.queues)
        if (std::ranges::count(options.queues, queue) > 1)
            return program::finish("tna-workload",
                                   std::unexpected(Error{fmt::format("queue {} is named twice", queue),
                                                         {},
                                                         "a queue is for one thread",
                                                         ExitCode::usage}));
    if (options.queues.empty())
        options.queues.push_back(TNA_FUNCTION_QUEUES);
    const auto shared = workload::SharedCounts::open(options.counts);
    if (!shared)
        return program::finish("tna-workload", std::unexpected(shared.error()));
    program::stopOnSignals();
    std::vector<Outcome> outcomes(options.queues.size());
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 1; i < outcomes.size(); i++)
            threads.emplace_back([&, i] { outcomes[i] = serve(options, *shared, options.queues[i]); });
        outcomes[0] = serve(options, *shared, options.queues[0]);
    }
    int code = 0;
    tna_function_counts sum{};
    for (const auto& [ended, counted] : outcomes) {
        if (const int failed = program::finish("tna-workload", ended); failed != 0)
            code = failed;
        sum.received += counted.received;
        sum.sent += counted.sent;
        sum.given_back += counted.given_back;
        sum.dropped += counted.dropped;
        sum.lost += counted.lost;
        sum.invalid += counted.invalid;
    }
    program::show(fmt::format("received {}, sent {}, given back {}, dropped {}, lost {}, invalid {}\n",
                              sum.received, sum.sent, sum.given_back, sum.dropped, sum.lost, sum.invalid));
    return code;
}

} // namespace

int main(int argc, char** argv) {
    return tna::runProgram("tna-workload", [&] { return run(argc, argv); });
}
