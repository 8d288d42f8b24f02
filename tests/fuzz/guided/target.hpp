// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tna::fuzz {

/// What a target starts from, one input each: with --seeds=FOLDER it writes them there, and ends.
[[nodiscard]] std::vector<std::string> seeds();
/// Before the first input.
void prepare();
/// One input. Never returns if something is wrong with what becomes of it.
void run(const std::uint8_t* data, std::size_t size);

/// Ends the program with a sentence unless something holds: libFuzzer keeps the input.
void require(bool holds, const std::string& what);

} // namespace tna::fuzz
