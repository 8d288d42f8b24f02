// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tna {

/// The paths of the files of a folder whose names end so, in order; none where the folder is not there.
[[nodiscard]] Result<std::vector<std::string>> filesIn(const std::string& folder, std::string_view suffix);

} // namespace tna
