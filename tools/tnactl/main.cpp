// SPDX-License-Identifier: Apache-2.0
#include "tnactl/client.hpp"
#include "tnactl/render.hpp"

#include <chrono>
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <poll.h>
#include <termios.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace tna;
using nlohmann::json;

struct Options {
    std::string socket = "/run/tna/tnad.sock";
    bool asJson = false;
    bool asDot = false;
    std::string port;
};

int complain(const ctl::Failure& failure) {
    fmt::print(stderr, "tnactl: {}\n", failure.error.sentence());
    return static_cast<int>(failure.code);
}

template <typename Render>
int show(const ctl::Answer<json>& answer, bool asJson, Render render) {
    if (!answer)
        return complain(answer.error());
    fmt::print("{}", asJson ? answer->dump(2) + "\n" : render(*answer));
    return 0;
}

constexpr auto sampleTime = std::chrono::milliseconds(250);

int status(const ctl::Client& client, const Options& options) {
    if (options.asJson)
        return show(client.get("/v1/status"), true, [](const json&) { return std::string{}; });
    const auto before = client.get("/v1/status");
    if (!before)
        return complain(before.error());
    std::this_thread::sleep_for(sampleTime);
    return show(client.get("/v1/status"), false, [&](const json& now) {
        return ctl::renderStatus(now, *before, std::chrono::duration<double>(sampleTime).count());
    });
}

/// The terminal without line buffering and echo, for as long as this lives.
class RawTerminal {
public:
    RawTerminal() {
        if (::isatty(STDIN_FILENO) == 0 || ::tcgetattr(STDIN_FILENO, &saved_) != 0)
            return;
        auto raw = saved_;
        raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        active_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
    ~RawTerminal() {
        if (active_)
            ::tcsetattr(STDIN_FILENO, TCSANOW, &saved_);
    }
    RawTerminal(const RawTerminal&) = delete;
    RawTerminal& operator=(const RawTerminal&) = delete;

private:
    termios saved_{};
    bool active_ = false;
};

volatile std::sig_atomic_t stopped = 0;

/// True if 'q' was pressed within a second; without a terminal it just waits.
bool quitPressed() {
    pollfd input{::isatty(STDIN_FILENO) != 0 ? STDIN_FILENO : -1, POLLIN, 0};
    char key = 0;
    return ::poll(&input, 1, 1000) > 0 && ::read(STDIN_FILENO, &key, 1) == 1 && key == 'q';
}

int top(const ctl::Client& client) {
    std::signal(SIGINT, [](int) { stopped = 1; });
    std::signal(SIGTERM, [](int) { stopped = 1; });
    const RawTerminal terminal;
    json before;
    auto then = std::chrono::steady_clock::now();
    do {
        const auto now = client.get("/v1/status");
        if (!now)
            return complain(now.error());
        const auto time = std::chrono::steady_clock::now();
        fmt::print("{}{}\nq quits\n", ::isatty(STDOUT_FILENO) != 0 ? "\033[H\033[2J" : "",
                   ctl::renderStatus(*now, before, std::chrono::duration<double>(time - then).count()));
        std::fflush(stdout);
        before = *now;
        then = time;
    } while (!quitPressed() && stopped == 0);
    return 0;
}

int setPaused(const ctl::Client& client, const Options& options, const char* path, const char* word) {
    const auto body = options.port.empty() ? json::object() : json{{"port", options.port}};
    return show(client.post(path, body), options.asJson, [&](const json&) {
        return fmt::format("{} {}\n", options.port.empty() ? "all ports" : options.port, word);
    });
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app{"Looks at tnad and steers it."};
    app.require_subcommand(1);
    app.fallthrough();
    app.set_version_flag("--version", "tnactl " TNA_VERSION);
    app.add_option("--socket", options.socket, "tnad's control socket")->capture_default_str();
    app.add_flag("--json", options.asJson, "for programs: the daemon's document as it is");
    auto* statusCommand =
        app.add_subcommand("status", "every port: state, profile, frames on the fast and slow path");
    auto* topCommand = app.add_subcommand("top", "the same, live");
    auto* explain =
        app.add_subcommand("explain", "why a port is or is not accelerated, and what was left to Linux");
    explain->add_option("PORT", options.port, "a bridge port")->required();
    auto* graph = app.add_subcommand("graph", "what depends on what");
    graph->add_flag("--dot", options.asDot, "for Graphviz");
    auto* capabilities = app.add_subcommand("capabilities", "what this kernel and these drivers can do");
    auto* pause = app.add_subcommand("pause", "leave a port, or all, to Linux");
    pause->add_option("PORT", options.port, "a bridge port");
    auto* resume = app.add_subcommand("resume", "accelerate it again");
    resume->add_option("PORT", options.port, "a bridge port");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::usage);
    }
    const ctl::Client client{options.socket};
    if (statusCommand->parsed())
        return status(client, options);
    if (topCommand->parsed())
        return top(client);
    if (explain->parsed())
        return show(client.get("/v1/ports/" + options.port), options.asJson, ctl::renderPort);
    if (graph->parsed())
        return show(client.get("/v1/graph"), options.asJson,
                    options.asDot ? ctl::renderGraphDot : ctl::renderGraphTree);
    if (capabilities->parsed())
        return show(client.get("/v1/capabilities"), options.asJson, ctl::renderCapabilities);
    if (pause->parsed())
        return setPaused(client, options, "/v1/pause", "left to Linux");
    if (resume->parsed())
        return setPaused(client, options, "/v1/resume", "accelerated again where possible");
    return static_cast<int>(ExitCode::usage);
}
