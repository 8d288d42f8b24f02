// SPDX-License-Identifier: Apache-2.0
#include "tnactl/terminal.hpp"

#include <poll.h>
#include <unistd.h>

namespace tna::ctl {

RawTerminal::RawTerminal() {
    if (::isatty(STDIN_FILENO) == 0 || ::tcgetattr(STDIN_FILENO, &saved_) != 0)
        return;
    auto raw = saved_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    active_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

RawTerminal::~RawTerminal() {
    if (active_)
        ::tcsetattr(STDIN_FILENO, TCSANOW, &saved_);
}

bool quitPressed() {
    pollfd input{::isatty(STDIN_FILENO) != 0 ? STDIN_FILENO : -1, POLLIN, 0};
    char key = 0;
    return ::poll(&input, 1, 1000) > 0 && ::read(STDIN_FILENO, &key, 1) == 1 && key == 'q';
}

} // namespace tna::ctl
