// SPDX-License-Identifier: Apache-2.0
#include "diff/interruption.hpp"

#include <csignal>

namespace tna::diff {

namespace {
volatile std::sig_atomic_t caught = 0;
} // namespace

void awaitInterruption() {
    struct sigaction action{};
    action.sa_handler = [](int number) { caught = number; };
    action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction before{};
        // Under nohup it goes on.
        if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
            ::sigaction(number, &action, nullptr);
    }
}

bool interrupted() {
    return caught != 0;
}

void endIfInterrupted() {
    if (caught == 0)
        return;
    std::signal(caught, SIG_DFL);
    std::raise(caught);
}

} // namespace tna::diff
