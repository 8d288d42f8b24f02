// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace tna::deploy {

/// Room for what it says.
inline constexpr std::size_t verifierLogSize = std::size_t{1} << 20U;

/// The verifier's last words before its statistics, in one line: what it objected to.
[[nodiscard]] std::string complaint(const std::string& log);

/// The end of its log, as far as people can use it: the lines of source that led there, and the objection.
[[nodiscard]] std::string endOfVerifierLog(const std::string& log);

} // namespace tna::deploy
