// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// What a network function says. Whether it arrives or not, the function goes on: its frames are worth more.
/// Of what is lost on stdout, runProgram() tells at the end.
namespace tna::program {

/// On stdout.
void show(const std::string& text);
/// On stderr, a line.
void tell(const std::string& program, const std::string& what);

} // namespace tna::program
