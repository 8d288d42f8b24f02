// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "tnactl/client.hpp"

#include <string>

namespace CLI {
class App;
}

namespace tna::ctl {

/// `tnactl function ...`
class FunctionCommand {
public:
    /// Says what there is to be written on the command line.
    void describe(CLI::App& command);
    /// What is to be printed.
    [[nodiscard]] Result<std::string> run(const Client& client, bool asJson) const;

private:
    std::string file_;
    std::string name_;
    CLI::App* add_ = nullptr;
    CLI::App* remove_ = nullptr;
    CLI::App* list_ = nullptr;
    CLI::App* show_ = nullptr;
    CLI::App* bypass_ = nullptr;
    CLI::App* resume_ = nullptr;
};

[[nodiscard]] std::string renderFunctions(const nlohmann::json& document);
[[nodiscard]] std::string renderFunction(const nlohmann::json& function);

} // namespace tna::ctl
