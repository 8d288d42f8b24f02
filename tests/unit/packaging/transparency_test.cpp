// SPDX-License-Identifier: Apache-2.0
// Whether there are tests by the names that docs/transparency.md gives as proof.
#include "base/file.hpp"
#include "support/command.hpp"

#include <gtest/gtest.h>
#include <regex>
#include <sstream>

namespace tna::test {
namespace {

/// What a row of the table calls tests, in its last column: programs begin with a small letter.
std::vector<std::string> testsNamedIn(const std::string& row) {
    static const std::regex name("`([A-Z][^`]*)`");
    const auto column = row.substr(row.rfind('|', row.size() - 2));
    std::vector<std::string> names;
    for (auto match = std::sregex_iterator(column.begin(), column.end(), name);
         match != std::sregex_iterator(); ++match)
        names.push_back((*match)[1]);
    return names;
}

TEST(TransparencyTable, NamesTestsThatThereAre) {
    const auto list = command({TNA_CTEST, "--test-dir", TNA_BINARY_DIR, "-N"});
    ASSERT_EQ(list.exitCode, 0) << list.output;
    const auto document = readFile(TNA_SOURCE_DIR "/docs/transparency.md");
    ASSERT_TRUE(document);
    unsigned named = 0;
    std::istringstream lines(*document);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with('|') || !line.ends_with('|'))
            continue;
        for (const auto& name : testsNamedIn(line)) {
            named++;
            EXPECT_TRUE(std::regex_search(list.output, std::regex(name))) << name;
        }
    }
    EXPECT_GE(named, 30U);
}

} // namespace
} // namespace tna::test
