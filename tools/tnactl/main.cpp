// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"
#include "base/program.hpp"
#include "cli/checks.hpp"
#include "cli/refusal.hpp"
#include "tnactl/client.hpp"
#include "tnactl/document.hpp"
#include "tnactl/function_command.hpp"
#include "tnactl/module_command.hpp"
#include "tnactl/render.hpp"
#include "tnactl/render_event.hpp"
#include "tnactl/render_rules.hpp"
#include "tnactl/terminal.hpp"
#include "tnactl/trace_command.hpp"
#include "tnactl/unknown_port.hpp"

#include <algorithm>
#include <chrono>
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>

namespace {

using namespace tna;
using nlohmann::json;

struct Options {
    std::string socket = "/run/tna/tnad.sock";
    std::string networkNamespace;
    bool asJson = false;
    bool asDot = false;
    std::string port;
    std::vector<std::string> words; ///< of `route`
    std::uint64_t count = 0;        ///< of lines that are shown; 0: no limit
};

int complain(const Error& error) {
    fmt::print(stderr, "tnactl: {}\n", printableLines(error.sentence()));
    return static_cast<int>(error.code);
}

template <typename Render>
int show(const Result<json>& answer, bool asJson, Render render) {
    if (!answer)
        return complain(answer.error());
    fmt::print("{}", asJson ? ctl::documentText(*answer, 2) : render(*answer));
    return 0;
}

/// Status documents with rates: since the sample before.
class Sampler {
public:
    explicit Sampler(const ctl::Client& client) : client_(client) {}

    Result<json> next() {
        auto now = client_.get("/v1/status");
        if (!now)
            return now;
        const auto time = std::chrono::steady_clock::now();
        auto document = ctl::withRates(*now, before_, std::chrono::duration<double>(time - then_).count());
        before_ = std::move(*now);
        then_ = time;
        return document;
    }

private:
    const ctl::Client& client_;
    json before_;
    std::chrono::steady_clock::time_point then_;
};

int status(const ctl::Client& client, const Options& options) {
    Sampler sampler{client};
    if (const auto first = sampler.next(); !first)
        return complain(first.error());
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    return show(sampler.next(), options.asJson, ctl::renderStatus);
}

volatile std::sig_atomic_t stopped = 0;

int top(const ctl::Client& client) {
    std::signal(SIGINT, [](int) { stopped = 1; });
    std::signal(SIGTERM, [](int) { stopped = 1; });
    const ctl::RawTerminal terminal;
    Sampler sampler{client};
    do {
        const auto document = sampler.next();
        if (!document)
            return complain(document.error());
        fmt::print("{}{}\nq quits\n", ::isatty(STDOUT_FILENO) != 0 ? "\033[H\033[2J" : "",
                   ctl::renderStatus(*document));
        std::fflush(stdout);
    } while (std::ferror(stdout) == 0 && !ctl::quitPressed() && stopped == 0);
    return 0;
}

int setPaused(const ctl::Client& client, const Options& options, bool paused) {
    const auto body = options.port.empty() ? json::object() : json{{"port", options.port}};
    const auto answer = client.post(paused ? "/v1/pause" : "/v1/resume", body);
    return show(ctl::nameThePorts(client, options.port, answer), options.asJson, [&](const json&) {
        return fmt::format("{} {}\n", options.port.empty() ? "all ports" : printable(options.port),
                           paused ? "left to Linux" : "accelerated again where possible");
    });
}

/// Until tnad ends, or `count` have come; what begins the stream is none of them.
int events(const ctl::Client& client, const Options& options) {
    std::uint64_t left = options.count;
    const auto followed = client.follow("GET", "/v1/events/stream", json::object(), [&](const json& event) {
        fmt::print("{}", options.asJson ? ctl::documentText(event) : ctl::renderEvent(event));
        std::fflush(stdout);
        const bool begins = event.is_object() && event.value("event", json()) == "begin";
        return (begins || left == 0 || --left > 0) && std::ferror(stdout) == 0;
    });
    return followed ? 0 : complain(followed.error());
}

/// `route get ADDRESS from ADDRESS iif PORT`, in the words of `ip route get`.
int route(const ctl::Client& client, const Options& options) {
    const auto& words = options.words;
    if (words.size() != 6 || words[0] != "get" || words[2] != "from" || words[4] != "iif" || words[5].empty())
        return complain({"the command is not `route get ADDRESS from ADDRESS iif PORT`",
                         {},
                         "for example `tnactl route get 192.0.2.1 from 198.51.100.7 iif eth0`",
                         ExitCode::usage});
    const auto answer = client.get(ctl::pathOfRoute(words[5], words[3], words[1]));
    return show(ctl::nameThePorts(client, words[5], answer), options.asJson, ctl::renderRoute);
}

/// The command line; what is parsed into must outlive it.
class CommandLine {
public:
    explicit CommandLine(Options& options) : options_(options) {
        app_.require_subcommand(1);
        app_.set_version_flag("--version", "tnactl " TNA_VERSION);
        auto* socket =
            app_.add_option("--socket", options.socket, "tnad's control socket")->capture_default_str();
        app_.add_option("--namespace", options.networkNamespace, "of tnad@NAMESPACE.service instead")
            ->excludes(socket);
        app_.add_flag("--json", options.asJson, "for programs: JSON as in docs/api.md");
        app_.footer("Examples:\n"
                    "  tnactl status                 every port, with rates\n"
                    "  tnactl explain eth0           why it is accelerated or not, and what went to Linux\n"
                    "  tnactl --json status | jq '.ports[] | {name, state, why}'\n"
                    "  tnactl graph --dot | dot -Tsvg > network.svg\n"
                    "Exit codes: 0 done, 1 refused, 2 wrong usage, 3 no permission, 5 tnad does not answer.");
        graph_->add_flag("--dot", options.asDot, "for Graphviz: tnactl graph --dot | dot -Tsvg > g.svg");
        namePort(explain_, "tnactl explain eth0")->required();
        route_->add_option("WORDS", options.words, "get ADDRESS from ADDRESS iif PORT")->required();
        route_->footer("Examples: tnactl route get 192.0.2.1 from 198.51.100.7 iif eth0\n"
                       "          tnactl route get 2001:db8:1::1 from 2001:db8:2::7 iif eth0");
        namePort(pause_, "tnactl pause eth0; tnactl pause");
        namePort(resume_, "tnactl resume eth0; tnactl resume");
        modules_.describe(*module_);
        functions_.describe(*function_);
        tracing_.describe(*trace_);
        events_->add_option("--count", options.count, "end after so many (default: never)")
            ->check(cli::wholeNumber(1, cli::mostTimes));
        cli::refuseEmptyWords(app_);
    }

    /// Nothing, or the exit code of what there is nothing to run for.
    std::optional<int> parse(std::vector<std::string> words) {
        return cli::parse(app_, std::move(words), "tnactl");
    }

    [[nodiscard]] int run() const {
        if (!options_.networkNamespace.empty())
            options_.socket = "/run/tna@" + options_.networkNamespace + "/tnad.sock";
        const ctl::Client client{options_.socket};
        if (options_.asJson && (top_->parsed() || options_.asDot))
            return complain({top_->parsed() ? "'top' has no --json" : "--dot and --json exclude each other",
                             {},
                             top_->parsed() ? "`tnactl --json status` has the same numbers" : "choose one",
                             ExitCode::usage});
        if (status_->parsed())
            return status(client, options_);
        if (top_->parsed())
            return top(client);
        if (explain_->parsed())
            return show(ctl::nameThePorts(client, options_.port, client.get(ctl::pathOfPort(options_.port))),
                        options_.asJson, ctl::renderPort);
        if (route_->parsed())
            return route(client, options_);
        if (graph_->parsed())
            return show(client.get("/v1/graph"), options_.asJson,
                        options_.asDot ? ctl::renderGraphDot : ctl::renderGraphTree);
        if (capabilities_->parsed())
            return show(client.get("/v1/capabilities"), options_.asJson, ctl::renderCapabilities);
        if (rules_->parsed())
            return show(client.get("/v1/rules", ctl::Client::readingOfRules), options_.asJson,
                        ctl::renderRules);
        if (module_->parsed())
            return print(modules_);
        if (function_->parsed())
            return print(functions_);
        if (trace_->parsed())
            return trace();
        if (events_->parsed())
            return events(client, options_);
        return setPaused(client, options_, pause_->parsed());
    }

private:
    template <typename Command>
    [[nodiscard]] int print(const Command& command) const {
        const auto said = command.run(ctl::Client{options_.socket}, options_.asJson);
        if (!said)
            return complain(said.error());
        fmt::print("{}", *said);
        return 0;
    }

    [[nodiscard]] int trace() const {
        const auto traced = tracing_.run(ctl::Client{options_.socket}, options_.asJson);
        return traced ? 0 : complain(traced.error());
    }

    /// Options of the program may stand behind the command as well.
    CLI::App* command(const char* name, const char* purpose) {
        return app_.add_subcommand(name, purpose)->fallthrough();
    }
    CLI::Option* namePort(CLI::App* command, const char* example) {
        command->footer(std::string("Example: ") + example);
        return command->add_option("PORT", options_.port, "a port, as `tnactl status` lists them");
    }

    Options& options_;
    CLI::App app_{"Looks at tnad, which makes Linux bridges and routers fast, and steers it."};
    CLI::App* status_ = command("status", "every port: state, profile, frames, rates");
    CLI::App* top_ = command("top", "the same, live; q quits");
    CLI::App* explain_ =
        command("explain", "why a port is or is not accelerated, and which frames were left to Linux");
    CLI::App* route_ = command("route", "what the fast path does with a packet, beside what the kernel says");
    CLI::App* graph_ = command("graph", "what depends on what, as a tree");
    CLI::App* capabilities_ = command("capabilities", "what this kernel and its drivers can do");
    CLI::App* rules_ =
        command("rules", "firewall rules: which could be accelerated, and which are in the way");
    ctl::ModuleCommand modules_;
    CLI::App* module_ = command("module", "custom modules: code of your own in the fast path");
    ctl::FunctionCommand functions_;
    CLI::App* function_ = command("function", "network functions in user space, and what is steered to them");
    ctl::TraceCommand tracing_;
    CLI::App* trace_ = command("trace", "packets as they come, with what is decided about each");
    CLI::App* events_ = command("events", "what happens, as it happens: states of ports and why, changes");
    CLI::App* pause_ = command("pause", "leave a port to Linux, or all if none is named");
    CLI::App* resume_ = command("resume", "accelerate it again, or all");
};

int run(int argc, char** argv) {
    Options options;
    CommandLine line{options};
    const auto ended = line.parse({argv + std::min(argc, 1), argv + argc});
    return ended ? *ended : line.run();
}

} // namespace

int main(int argc, char** argv) {
    return tna::runProgram("tnactl", [&] { return run(argc, argv); });
}
