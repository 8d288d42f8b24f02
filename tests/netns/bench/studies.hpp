// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file.hpp"
#include "in_folder.hpp"
#include "support/command.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace tna::bench {

inline std::string whyNoStatistics() {
    return test::command({"/usr/bin/python3", "-c", "import scipy, seaborn, sklearn"}).exitCode == 0
               ? ""
               : "needs python3-sklearn, python3-scipy and python3-seaborn";
}

class Studies : public InFolder {
protected:
    void SetUp() override {
        InFolder::SetUp();
        if (IsSkipped())
            return;
        if (const auto why = whyNoStatistics(); !why.empty())
            GTEST_SKIP() << why;
    }
    [[nodiscard]] std::string file(const std::string& name) const { return folder_->path() + "/" + name; }
    /// The document that a command writes, without the plan on standard error.
    nlohmann::json measured(const std::string& words) { return resultOf(words + " --json"); }
    nlohmann::json resultOf(const std::string& words) {
        const auto run =
            test::command({"sh", "-c", std::string{TNA_BENCH} + " " + words + " 2>" + file("errors")});
        EXPECT_EQ(run.exitCode, 0) << run.output << *readFile(file("errors"));
        return nlohmann::json::parse(run.output, nullptr, false);
    }
};

} // namespace tna::bench
