// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tna::daemon {

/// The files of a directory that declare network functions, as far as they were taken in.
class FunctionFiles {
public:
    struct Changes {
        std::vector<std::string> gone;              ///< names of functions
        std::map<std::string, std::string> changed; ///< texts by names; new ones, too
    };
    /// What is otherwise than what was taken in. Files that cannot be read are told in the log. `declared`:
    /// whether there still is such a function, from a file.
    [[nodiscard]] Result<Changes> read(const std::string& directory,
                                       const std::function<bool(const std::string& name)>& declared);
    /// One that was not, because it was refused, is read again the next time.
    void takenIn(const std::string& name, const std::string& text) { texts_[name] = text; }

    /// Of a function that is declared there.
    [[nodiscard]] static std::string pathOf(const std::string& directory, const std::string& name);

private:
    std::map<std::string, std::string> texts_; ///< by name
};

} // namespace tna::daemon
