// SPDX-License-Identifier: Apache-2.0
#include "support/process.hpp"

#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace tna::test {

Process::Process(const std::vector<std::string>& words) {
    std::vector<char*> argv;
    for (const auto& word : words)
        argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL); // also where a test crashes
        ::execvp(argv[0], argv.data());
        ::_exit(127);
    }
}

Process::~Process() {
    if (pid_ > 0)
        end(SIGKILL);
}

bool Process::hasEnded() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
}

void Process::signal(int number) const {
    if (pid_ > 0) // -1 would be everybody
        ::kill(pid_, number);
}

int Process::end(int number) {
    if (pid_ <= 0)
        return -1;
    int status = 0;
    signal(number);
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace tna::test
