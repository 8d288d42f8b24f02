// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"

#include <chrono>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace tna::bench {

/// Runs a program by its arguments; its output becomes the error's cause.
[[nodiscard]] Result<void> runProgram(const std::vector<std::string>& arguments);
/// The same, of words between spaces.
[[nodiscard]] Result<void> runCommand(const std::string& words);
/// Many lines of `ip` or `bridge`, in the network namespace of a name.
[[nodiscard]] Result<void> runBatch(const std::string& program, const std::string& name,
                                    const std::string& lines);

/// The last line of a file, which is what a program said last.
[[nodiscard]] std::string lastLine(const std::string& file);

/// A program that runs beside this one, in the calling thread's network namespace. Killed at destruction,
/// and by the kernel if this program dies; the keys of the terminal do not reach it. Its standard input
/// stays open and empty for as long as the object lives.
class Process {
public:
    /// Its standard error goes to `errorFile`.
    [[nodiscard]] static Result<Process> start(const std::vector<std::string>& arguments,
                                               const std::string& errorFile);
    Process(Process&& other) noexcept
        : pid_(std::exchange(other.pid_, -1)), startedAt_(other.startedAt_), status_(other.status_),
          input_(std::move(other.input_)) {}
    Process& operator=(Process&&) = delete;
    ~Process();

    [[nodiscard]] pid_t pid() const { return pid_; }
    /// The moment before it was started.
    [[nodiscard]] std::chrono::steady_clock::time_point startedAt() const { return startedAt_; }
    [[nodiscard]] bool running();
    void signal(int number);
    /// Sends a signal and waits for the end; kills it if it takes too long.
    void end(int signal);
    /// Writes to its standard input.
    [[nodiscard]] Result<void> tell(const std::string& text);
    /// Ends its standard input and waits for the end; kills it if it takes too long.
    void endByInput();
    /// How it ended, in words; empty while it runs.
    [[nodiscard]] std::string ending() const;

    [[nodiscard]] double cpuSeconds() const;
    [[nodiscard]] std::uint64_t residentBytes() const;

private:
    void awaitEnd();
    Process(pid_t pid, std::chrono::steady_clock::time_point startedAt, UniqueFd input)
        : pid_(pid), startedAt_(startedAt), input_(std::move(input)) {}
    pid_t pid_;
    std::chrono::steady_clock::time_point startedAt_;
    int status_ = -1;
    UniqueFd input_;
};

} // namespace tna::bench
