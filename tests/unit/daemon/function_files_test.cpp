// SPDX-License-Identifier: Apache-2.0
#include "daemon/function_files.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace tna::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class FunctionFilesTest : public ::testing::Test {
protected:
    FunctionFilesTest() {
        std::string name = ::testing::TempDir() + "tna-functions-XXXXXX";
        directory_ = ::mkdtemp(name.data());
    }
    ~FunctionFilesTest() override { std::filesystem::remove_all(directory_); }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream{FunctionFiles::pathOf(directory_, name)} << text;
    }
    void remove(const std::string& name) const {
        std::filesystem::remove(FunctionFiles::pathOf(directory_, name));
    }
    FunctionFiles::Changes read() {
        auto changes =
            files_.read(directory_, [&](const std::string& name) { return declared_.contains(name); });
        EXPECT_TRUE(changes) << changes.error().sentence();
        return changes.value_or(FunctionFiles::Changes{});
    }
    void takeIn(const FunctionFiles::Changes& changes) {
        for (const auto& [name, text] : changes.changed) {
            files_.takenIn(name, text);
            declared_.insert(name);
        }
    }

    std::string directory_;
    std::set<std::string> declared_;
    FunctionFiles files_;
};

TEST_F(FunctionFilesTest, WhatHasChangedIsRead) {
    write("a", "one");
    write("b", "one");
    std::ofstream{directory_ + "/notes.txt"} << "nothing";
    auto changes = read();
    EXPECT_THAT(changes.changed, ElementsAre(Pair("a", "one"), Pair("b", "one")));
    takeIn(changes);
    EXPECT_THAT(read().changed, IsEmpty());
    write("b", "two");
    EXPECT_THAT(read().changed, ElementsAre(Pair("b", "two")));
}

TEST_F(FunctionFilesTest, WhatIsGoneIsToldOnce) {
    write("a", "one");
    takeIn(read());
    remove("a");
    EXPECT_THAT(read().gone, ElementsAre("a"));
    EXPECT_THAT(read().gone, IsEmpty());
}

TEST_F(FunctionFilesTest, WhatWasRefusedIsReadAgain) {
    write("a", "one");
    takeIn(read());
    write("a", "nonsense");
    EXPECT_THAT(read().changed, ElementsAre(Pair("a", "nonsense")));
    EXPECT_THAT(read().changed, ElementsAre(Pair("a", "nonsense")));
    write("a", "one");
    EXPECT_THAT(read().changed, IsEmpty()) << "it is what is in place";
}

TEST_F(FunctionFilesTest, WhatCannotBeReadIsNotGone) {
    write("a", "one");
    takeIn(read());
    remove("a");
    std::filesystem::create_directory(FunctionFiles::pathOf(directory_, "a"));
    const auto changes = read();
    EXPECT_THAT(changes.gone, IsEmpty());
    EXPECT_THAT(changes.changed, IsEmpty());
}

TEST_F(FunctionFilesTest, WhatIsNotDeclaredAnyMoreIsNotGone) {
    write("a", "one");
    takeIn(read());
    declared_.clear();
    remove("a");
    EXPECT_THAT(read().gone, IsEmpty());
}

} // namespace
} // namespace tna::daemon
