// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file.hpp"
#include "support/eventually.hpp"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tna::bench {

/// tna-bench, which is two processes: one that measures, and one that waits for it.
class KilledProgram {
public:
    /// Its standard input stays open.
    explicit KilledProgram(std::vector<std::string> words) {
        std::vector<char*> list;
        for (auto& word : words)
            list.push_back(word.data());
        list.push_back(nullptr);
        int ends[2] = {-1, -1};
        if (::pipe2(ends, O_CLOEXEC) != 0)
            return;
        input_ = ends[1];
        waiting_ = ::fork();
        if (waiting_ == 0) {
            const int nothing = ::open("/dev/null", O_WRONLY);
            ::dup2(ends[0], STDIN_FILENO);
            ::dup2(nothing, STDOUT_FILENO);
            ::dup2(nothing, STDERR_FILENO);
            ::execv(list[0], list.data());
            ::_exit(127);
        }
        ::close(ends[0]);
    }
    KilledProgram(const KilledProgram&) = delete;
    KilledProgram& operator=(const KilledProgram&) = delete;
    ~KilledProgram() { kill(true, true); }

    /// The process that measures; 0 as long as there is none.
    pid_t working() {
        const auto path =
            "/proc/" + std::to_string(waiting_) + "/task/" + std::to_string(waiting_) + "/children";
        if (working_ == 0)
            working_ = std::atoi(readFile(path).value_or("0").c_str());
        return working_;
    }
    void kill(bool theWorking, bool theWaiting) {
        if (waiting_ <= 0)
            return;
        if (theWaiting)
            ::kill(waiting_, SIGKILL);
        if (theWorking && working() > 0)
            ::kill(working(), SIGKILL);
        ::waitpid(waiting_, nullptr, 0);
        ::close(input_);
        waiting_ = -1;
    }
    /// Whether nobody has killed it and it has not ended.
    [[nodiscard]] bool runs() const {
        return waiting_ > 0 &&
               ::waitid(P_PID, static_cast<id_t>(waiting_), nullptr, WEXITED | WNOHANG | WNOWAIT) == 0 &&
               readFile("/proc/" + std::to_string(waiting_) + "/stat").value_or(") Z").find(") Z") ==
                   std::string::npos;
    }

private:
    int input_ = -1;
    pid_t waiting_ = -1;
    pid_t working_ = 0;
};

} // namespace tna::bench
