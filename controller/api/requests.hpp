// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/backend.hpp"
#include "base/error.hpp"

#include <map>
#include <optional>
#include <string>

namespace tna::api {

// What the bodies of requests say. A field that nobody knows is refused: it may have been meant for one that
// is needed.

/// Of pause and resume: the port, or nothing for all of them, which must have been said.
[[nodiscard]] Result<std::optional<std::string>> portOrAll(const std::string& body);
/// Of a trace; an empty one is all packets of all ports.
[[nodiscard]] Result<TraceWish> traceWish(const std::string& body);

/// What the parameters of a request say about a custom module.
struct PlaceWish {
    Placement placement;
    bool replace = false; ///< it takes the place of another one
};
[[nodiscard]] Result<PlaceWish> placeWish(const std::multimap<std::string, std::string>& parameters);

/// Whether a custom module may have this name: it becomes the name of a file, and a word of commands.
[[nodiscard]] bool isModuleName(const std::string& name);

} // namespace tna::api
