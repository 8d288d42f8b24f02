// SPDX-License-Identifier: Apache-2.0
#include "support/command.hpp"

#include <array>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace tna::test {

CommandResult command(const std::vector<std::string>& arguments) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0)
        return {};
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(pipe[1], STDOUT_FILENO);
        ::dup2(pipe[1], STDERR_FILENO);
        ::close(pipe[0]);
        std::vector<char*> argv;
        for (const auto& argument : arguments)
            argv.push_back(const_cast<char*>(argument.c_str()));
        argv.push_back(nullptr);
        ::execvp(argv[0], argv.data());
        ::_exit(127);
    }
    ::close(pipe[1]);
    CommandResult result;
    std::array<char, 4096> buffer{};
    for (ssize_t n = 0; (n = ::read(pipe[0], buffer.data(), buffer.size())) > 0;)
        result.output.append(buffer.data(), static_cast<std::size_t>(n));
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    result.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
}

void must(const std::string& words) {
    std::istringstream stream{words};
    std::vector<std::string> arguments;
    for (std::string word; stream >> word;)
        arguments.push_back(word);
    const auto result = command(arguments);
    ASSERT_EQ(result.exitCode, 0) << words << ": " << result.output;
}

} // namespace tna::test
