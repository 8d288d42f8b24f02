// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "tnactl/client.hpp"

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace tna::ctl {

/// A traced packet as a line for people.
[[nodiscard]] std::string renderPacket(const nlohmann::json& document);

/// `tnactl trace`
class TraceCommand {
public:
    /// Says what there is to be written on the command line.
    void describe(CLI::App& command);
    /// Prints packets as they come.
    [[nodiscard]] Result<void> run(const Client& client, bool asJson) const;

private:
    std::string port_;
    std::string file_;
    std::uint32_t oneIn_ = 1;
    std::uint64_t count_ = 0;
};

} // namespace tna::ctl
