// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tna::test {

/// The words of a command that nobody starts, who has no capability.
inline std::vector<std::string> asNobody(const std::vector<std::string>& words) {
    std::vector<std::string> all{"setpriv",        "--reuid",         "nobody",
                                 "--regid",        "nogroup",         "--clear-groups",
                                 "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"};
    all.insert(all.end(), words.begin(), words.end());
    return all;
}

} // namespace tna::test
