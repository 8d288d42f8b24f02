// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "diff/unasked.hpp"

#include <string>
#include <vector>

namespace tna::diff {

/// What a host's own stack gets: raw sockets of the usual protocols, in the calling thread's namespace.
class Ears {
public:
    [[nodiscard]] static Result<Ears> open();
    /// What was heard since the last time, as lines, in order for each protocol; without complaints about
    /// what the host itself sends unasked.
    [[nodiscard]] std::vector<std::string> heard(const Own& own) const;

private:
    struct Ear {
        std::string name;
        UniqueFd fd;
    };
    std::vector<Ear> ears_;
};

} // namespace tna::diff
