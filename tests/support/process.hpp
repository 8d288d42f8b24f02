// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace tna::test {

/// A program that runs beside the test, in the network namespace that the calling thread was in; killed when
/// the object goes.
class Process {
public:
    explicit Process(const std::vector<std::string>& words);
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    [[nodiscard]] pid_t id() const { return pid_; }
    void signal(int number) const;
    /// Whether it has ended by itself; end() tells how.
    [[nodiscard]] bool hasEnded() const;
    /// Its exit code; -1 if the signal ended it.
    int end(int signal);

private:
    pid_t pid_ = -1;
};

} // namespace tna::test
