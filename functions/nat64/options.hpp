// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "translator.hpp"

#include <string>

namespace tna::nat64 {

/// What the command line says.
struct Options {
    std::string prefix = "64:ff9b::/96";
    std::vector<std::string> pool;
    std::vector<std::string> maps;
    std::vector<std::string> inside;
    std::string errorSource;
    std::string then = "send";
    std::size_t sessions = 65536;
    std::size_t mtu6 = lowestMtu6;
    unsigned interval = 0; ///< seconds between statistics; 0: none
    bool filter = false;
    bool allowPrivate = false;
    bool dropZeroChecksum = false;
    bool json = false;

    [[nodiscard]] bool givesBack() const { return then == "back"; }
};

/// What they mean; wrong ones are an error that names them.
[[nodiscard]] Result<Settings> settingsOf(const Options& options);

} // namespace tna::nat64
