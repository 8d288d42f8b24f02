// SPDX-License-Identifier: Apache-2.0
#include "base/folder.hpp"

#include <algorithm>
#include <filesystem>

namespace tna {

Result<std::vector<std::string>> filesIn(const std::string& folder, std::string_view suffix) {
    namespace fs = std::filesystem;
    std::vector<std::string> paths;
    std::error_code error;
    for (fs::directory_iterator file(folder, error), end; !error && file != end; file.increment(error))
        if (auto path = file->path().string(); path.ends_with(suffix))
            paths.push_back(std::move(path));
    if (error && error != std::errc::no_such_file_or_directory)
        return failErrno(error.value(), "cannot read {}", folder);
    std::ranges::sort(paths);
    return paths;
}

} // namespace tna
