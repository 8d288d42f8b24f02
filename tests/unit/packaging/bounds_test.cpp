// SPDX-License-Identifier: Apache-2.0
// Whether the table of bounds (docs/decisions/22) has every search of the fast path, with the number of turns
// that it makes, and tests that there are.
#include "base/file.hpp"
#include "support/command.hpp"

#include <filesystem>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace tna::test {
namespace {

namespace fs = std::filesystem;

using Turns = std::map<std::string, std::set<unsigned>>;

/// How often a piece of text has a pattern.
unsigned long count(const std::string& text, const std::string& pattern) {
    const std::regex expression(pattern);
    return static_cast<unsigned long>(
        std::distance(std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator()));
}

/// What a piece of text has of a pattern: its first part, and its second as a number.
Turns found(const std::string& text, const std::string& pattern) {
    const std::regex expression(pattern);
    Turns turns;
    for (auto match = std::sregex_iterator(text.begin(), text.end(), expression);
         match != std::sregex_iterator(); ++match)
        turns[(*match)[1]].insert(match->size() > 2 ? static_cast<unsigned>(std::stoul((*match)[2])) : 0);
    return turns;
}

std::string fastPathSource() {
    std::string all;
    for (const auto& entry : fs::recursive_directory_iterator(TNA_SOURCE_DIR "/fpm"))
        if (entry.is_regular_file())
            all += readFile(entry.path().string()).value_or("");
    return all;
}

std::string boundsPage() {
    return readFile(TNA_SOURCE_DIR "/docs/decisions/22-a-bound-is-doubt.md").value_or("");
}

TEST(TableOfBounds, HasEverySearchOfTheFastPath) {
    const auto source = fastPathSource();
    const std::string search = R"(\bSEARCH(?:_SHORT)?\s*\()", bounded = search + R"(\w+,\s*(\w+)\))";
    EXPECT_EQ(count(source, search), count(source, bounded)) << "a bound that is no macro has no row";
    const auto searches = found(source, bounded),
               defined = found(source, R"(#define (\w+)[ \t\\\n]+(\d+)\b)"),
               listed = found(boundsPage(), R"(\| `(\w+)` \| (\d+) \|)");
    EXPECT_GE(searches.size(), 17U);
    for (const auto& [bound, unused] : searches) {
        SCOPED_TRACE(bound);
        if (bound == "turns") // the macro itself
            continue;
        ASSERT_TRUE(defined.contains(bound)) << "what is searched is bounded by a macro of its own";
        ASSERT_TRUE(listed.contains(bound)) << "it has no row";
        EXPECT_EQ(defined.at(bound), listed.at(bound));
    }
    for (const auto& [bound, turns] : listed)
        EXPECT_TRUE(searches.contains(bound)) << bound << " bounds no search any more";
}

TEST(TableOfBounds, NamesTestsThatThereAre) {
    const auto list = command({TNA_CTEST, "--test-dir", TNA_BINARY_DIR, "-N"});
    ASSERT_EQ(list.exitCode, 0) << list.output;
    unsigned rows = 0;
    std::istringstream lines(boundsPage());
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("| ") || line.starts_with("| search"))
            continue;
        rows++;
        const auto tests = found(line.substr(line.rfind('|', line.size() - 2)), "`([^`]+)`");
        EXPECT_FALSE(tests.empty()) << line;
        for (const auto& [name, unused] : tests)
            EXPECT_TRUE(std::regex_search(list.output, std::regex(name))) << name;
    }
    EXPECT_GE(rows, 18U);
}

} // namespace
} // namespace tna::test
