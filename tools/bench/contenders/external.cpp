// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/external.hpp"

#include <csignal>
#include <cstdlib>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace tna::bench {

namespace {
constexpr auto pauseInBetween = std::chrono::milliseconds(50);
} // namespace

std::string findInPath(const std::string& program) {
    const char* path = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe): nobody changes it
    std::istringstream folders{path == nullptr ? "/usr/sbin:/usr/bin:/sbin:/bin" : path};
    for (std::string folder; std::getline(folders, folder, ':');)
        if (const auto file = fmt::format("{}/{}", folder, program); ::access(file.c_str(), X_OK) == 0)
            return file;
    return {};
}

Result<void> External::available() const {
    for (const auto& program : programs_)
        if (findInPath(program).empty())
            return std::unexpected(Error{fmt::format("'{}' is not installed", program), {}, source_});
    return {};
}

Result<void> External::start(Traffic& traffic) {
    auto folder = TemporaryFolder::make();
    if (!folder)
        return std::unexpected(folder.error());
    folder_.emplace(std::move(*folder));
    if (auto begun = begin(traffic); !begun)
        return begun;
    return awaitForwarding(traffic);
}

Result<void> External::launch(const std::vector<std::string>& arguments) {
    auto process = Process::start(arguments, fmt::format("{}/log{}", folder(), processes_.size()));
    if (!process)
        return std::unexpected(process.error());
    processes_.push_back(std::move(*process));
    return {};
}

Result<void> External::allRunning() {
    for (std::size_t i = 0; i < processes_.size(); i++)
        if (!processes_[i].running()) {
            const auto words = lastLine(fmt::format("{}/log{}", folder(), i));
            return std::unexpected(Error{"it does not run here: " + processes_[i].ending(),
                                         words.empty() ? "it said nothing" : words,
                                         {}});
        }
    return {};
}

Result<void> External::await(const std::string& what, std::chrono::seconds patience,
                             const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (auto alive = allRunning(); !alive)
            return alive;
        if (std::chrono::steady_clock::now() > deadline)
            return fail("{} in {} s", what, patience.count());
        std::this_thread::sleep_for(pauseInBetween);
    }
    return {};
}

Result<void> External::awaitForwarding(Traffic& traffic) {
    Error last;
    auto forwarding = await("it forwards nothing", patience(), [&] {
        auto verified = traffic.verify(forwards());
        if (!verified)
            last = verified.error();
        return verified.has_value();
    });
    if (!forwarding && !last.what.empty() && allRunning())
        return std::unexpected(last);
    return forwarding;
}

void External::stop() {
    (void)resume(); // they end only when they run
    while (!processes_.empty()) {
        processes_.back().end(SIGTERM);
        processes_.pop_back();
    }
    folder_.reset();
}

void External::pause() {
    for (auto& process : processes_)
        process.signal(SIGSTOP);
}

Result<void> External::resume() {
    for (auto& process : processes_)
        process.signal(SIGCONT);
    return {};
}

std::vector<pid_t> External::processes() const {
    std::vector<pid_t> list;
    for (const auto& process : processes_)
        list.push_back(process.pid());
    return list;
}

double External::cpuSeconds() const {
    double sum = 0;
    for (const auto& process : processes_)
        sum += process.cpuSeconds();
    return sum;
}

} // namespace tna::bench
