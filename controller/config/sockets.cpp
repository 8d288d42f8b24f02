// SPDX-License-Identifier: Apache-2.0
#include "config/sockets.hpp"

#include <algorithm>
#include <filesystem>

namespace tna::config {

std::string functionSocketBeside(const std::string& controlSocket) {
    const std::filesystem::path path{controlSocket};
    const auto name = path.extension() == ".sock" ? path.stem() : path.filename();
    const auto prefix = name == "tnad" ? "" : name.string() + "-";
    return (path.parent_path() / (prefix + "functions.sock")).string();
}

bool isControlSocket(const std::string& path) {
    return !path.empty() && path.find('\0') == std::string::npos &&
           std::max(path.size(), functionSocketBeside(path).size()) <= longestSocket;
}

} // namespace tna::config
