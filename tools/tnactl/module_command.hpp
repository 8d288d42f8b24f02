// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "tnactl/client.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tna::ctl {

/// `tnactl module ...`
class ModuleCommand {
public:
    /// Says what there is to be written on the command line.
    void describe(CLI::App& command);
    /// What is to be printed.
    [[nodiscard]] Result<std::string> run(const Client& client, bool asJson) const;

private:
    [[nodiscard]] Result<nlohmann::json> place(const Client& client) const;

    std::string file_;
    std::string name_;
    std::string map_;
    std::vector<std::string> hooks_;
    std::vector<std::string> ports_;
    std::vector<std::string> kinds_;
    unsigned priority_ = 100;
    CLI::App* insert_ = nullptr;
    CLI::App* replace_ = nullptr;
    CLI::App* remove_ = nullptr;
    CLI::App* list_ = nullptr;
    CLI::App* show_ = nullptr;
};

} // namespace tna::ctl
