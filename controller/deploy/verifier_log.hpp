// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tna::deploy {

/// The verifier's last words before its statistics, in one line: what it objected to.
[[nodiscard]] std::string complaint(const std::string& log);

/// The end of its log, as far as people can use it: the lines of source that led there, and the objection.
[[nodiscard]] std::string endOfVerifierLog(const std::string& log);

} // namespace tna::deploy
