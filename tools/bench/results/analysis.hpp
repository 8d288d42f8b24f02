// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <nlohmann/json.hpp>

namespace tna::bench {

/// What statistics say about the document of a study.
struct Analysis {
    nlohmann::json found; ///< for files
    std::string text;     ///< for people
};

/// By a program beside this one, which needs Debian's packages for statistics. It gets `words` besides.
[[nodiscard]] Result<Analysis> analyse(const nlohmann::json& document,
                                       const std::vector<std::string>& words = {});

} // namespace tna::bench
