// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace tna::bench {

/// What has been measured of a plan, so that a run that was killed goes on where it was: a file with a line
/// for the plan and one for each measurement. Without a file it only remembers.
class Journal {
public:
    /// An existing file must be of the same plan; a last line that was not written to its end is left out.
    [[nodiscard]] static Result<Journal> open(const std::string& file, const nlohmann::json& plan);

    /// What was found, or null.
    [[nodiscard]] const nlohmann::json* find(const std::string& measurement) const;
    [[nodiscard]] Result<void> add(const std::string& measurement, nlohmann::json found);
    [[nodiscard]] std::size_t size() const { return found_.size(); }

private:
    [[nodiscard]] Result<void> read(const std::string& text, const nlohmann::json& plan);
    std::string file_;
    std::ofstream stream_;
    std::map<std::string, nlohmann::json> found_;
};

} // namespace tna::bench
