// SPDX-License-Identifier: Apache-2.0
#include "program/messages.hpp"

#include <cstdio>

namespace tna::program {

void show(const std::string& text) {
    (void)std::fputs(text.c_str(), stdout);
    (void)std::fflush(stdout);
}

void tell(const std::string& program, const std::string& what) {
    const auto line = program + ": " + what + "\n";
    (void)std::fputs(line.c_str(), stderr);
}

} // namespace tna::program
