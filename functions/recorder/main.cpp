// SPDX-License-Identifier: Apache-2.0
#include "base/program.hpp"
#include "capture_file.hpp"
#include "program/function_program.hpp"

#include <fmt/format.h>

namespace {

using namespace tna;

struct Options {
    program::Common common;
    std::string then = "back";
    recorder::Target target;
    std::uint64_t megabytes = 0;
    std::uint64_t count = 0; ///< frames after which it ends; 0: none
};

std::chrono::nanoseconds since1970() {
    return std::chrono::system_clock::now().time_since_epoch();
}

void treat(const Options& options, NetworkFunction& function, const tna_frame& frame) {
    if (options.then == "drop")
        function.drop(frame);
    else if (options.then == "forward")
        (void)function.send(frame, (frame.port + 1U) % std::max(tna_function_ports(function.get()), 1U));
    else
        (void)function.giveBack(frame);
}

/// Ports are known once it is connected; until then, each is called by its number.
std::vector<std::string> portsOf(const NetworkFunction& function) {
    constexpr unsigned mostPorts = 16;
    std::vector<std::string> names;
    for (unsigned port = 0; port < mostPorts; port++) {
        const char* name = tna_function_port_name(function.get(), port);
        names.push_back(name != nullptr ? name : std::to_string(port));
    }
    return names;
}

Result<void> record(Options& options) {
    auto function = program::openFunction("tna-recorder", options.common, options.then == "back");
    if (!function)
        return std::unexpected(function.error());
    options.target.ports = portsOf(*function);
    options.target.size = options.megabytes * 1'000'000U;
    auto file = recorder::CaptureFile::create(options.target);
    if (!file)
        return std::unexpected(file.error());
    std::uint64_t seen = 0;
    while (!program::isStopped() && (options.count == 0 || seen < options.count)) {
        const auto frames = function->receive(std::chrono::milliseconds(200));
        if (function->error() == EPERM)
            return std::unexpected(program::whyNot(*function));
        const auto time = since1970();
        for (const auto& frame : frames) {
            file->add({frame.data, frame.length}, frame.port, time);
            treat(options, *function, frame);
        }
        seen += frames.size();
        if (frames.empty())
            file->flush();
    }
    tna_function_flush(function->get());
    file->flush();
    program::show(
        fmt::format("received {}, written {}, not written {}\n", seen, file->written(), file->lost()));
    if (file->lost() != 0)
        return failErrno(file->error(), "not all frames could be written");
    return {};
}

int run(int argc, char** argv) {
    Options options;
    CLI::App app{"Writes the frames that tnad steers to it into a file for Wireshark and tcpdump."};
    program::addName(app, options.common);
    app.add_option("FILE", options.target.path, "where frames are written, in the format pcapng")->required();
    app.add_option("--files", options.target.files, "a ring of so many, FILE-0.pcapng and so on")
        ->capture_default_str()
        ->check(cli::wholeNumber(1, 10000));
    app.add_option("--megabytes", options.megabytes, "of each file (default: no limit)")
        ->check(cli::wholeNumber(1, 1'000'000));
    app.add_option("--snap", options.target.most, "bytes of each frame, at most")
        ->capture_default_str()
        ->check(cli::wholeNumber(14, 262144));
    app.add_option("--then", options.then,
                   "what becomes of frames: back (to Linux), forward (by the next port), drop")
        ->capture_default_str()
        ->check(CLI::IsMember({"back", "forward", "drop"}));
    program::addSocket(app, options.common);
    app.add_option("--count", options.count, "end after so many frames (default: never)")
        ->check(cli::wholeNumber(1, cli::mostTimes));
    program::addBusy(app, options.common);
    app.set_version_flag("--version", "tna-recorder " TNA_VERSION);
    program::addExamples(app, "tna-recorder",
                         "  tna-recorder tap /var/tmp/tap.pcapng\n"
                         "  tna-recorder tap /var/tmp/tap.pcapng --files 10 --megabytes 100\n");
    cli::refuseEmptyWords(app);
    if (const auto ended = cli::parse(app, {argv + std::min(argc, 1), argv + argc}, "tna-recorder"))
        return *ended;
    program::stopOnSignals();
    return program::finish("tna-recorder", record(options));
}

} // namespace

int main(int argc, char** argv) {
    return tna::runProgram("tna-recorder", [&] { return run(argc, argv); });
}
