// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <termios.h>

namespace tna::ctl {

/// Standard input without line buffering and echo, for as long as this lives; nothing where it is no
/// terminal.
class RawTerminal {
public:
    RawTerminal();
    ~RawTerminal();
    RawTerminal(const RawTerminal&) = delete;
    RawTerminal& operator=(const RawTerminal&) = delete;

private:
    termios saved_{};
    bool active_ = false;
};

/// Waits a second; true as soon as 'q' is pressed.
[[nodiscard]] bool quitPressed();

} // namespace tna::ctl
