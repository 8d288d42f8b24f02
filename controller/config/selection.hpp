// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/config.hpp"

#include <optional>

namespace tna::config {

/// Why the configuration leaves a port to Linux.
struct Exclusion {
    std::string code; ///< "excluded-name", "excluded-driver", "excluded-kind"
    std::string sentence;
    std::string hint;
};

[[nodiscard]] std::optional<Exclusion> excludedBy(const Ports& ports, const std::string& name,
                                                  const std::string& driver, const std::string& kind);

/// Whether the configuration has a device taken for safe, by its driver or its kind.
[[nodiscard]] bool trusts(const Ports& ports, const std::string& driver, const std::string& kind);

/// Whether ports of a kind are to be accelerated at tcx.
[[nodiscard]] bool isForTcx(const Ports& ports, const std::string& name, const std::string& kind);

/// Whether the configuration promises that those who send into this port finish their frames.
[[nodiscard]] bool promisesFinishedFrames(const Ports& ports, const std::string& name);

} // namespace tna::config
