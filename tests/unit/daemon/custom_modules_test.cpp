// SPDX-License-Identifier: Apache-2.0
// The directory that custom modules are kept in, with all that may be wrong there.
#include "daemon/custom_modules.hpp"

#include "base/file.hpp"
#include "daemon/placement_file.hpp"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

class CustomModulesTest : public ::testing::Test {
protected:
    CustomModulesTest() {
        char pattern[] = "/tmp/tna-modules-XXXXXX";
        directory_ = ::mkdtemp(pattern);
        for (const auto* name : {"one", "two"}) {
            daemon::CustomModules::Module module;
            module.kept = true;
            module.hash = daemon::hashOf(name);
            modules_.put(name, module);
            write(std::string(name) + ".bpf.o", name);
        }
    }
    ~CustomModulesTest() override { std::filesystem::remove_all(directory_); }
    [[nodiscard]] std::string path(const std::string& file) const { return directory_ + "/" + file; }
    void write(const std::string& file, const std::string& text) const {
        EXPECT_TRUE(writeFile(path(file), text));
    }
    /// "ACTION NAME" for each change, with the reason where it is refused.
    [[nodiscard]] std::vector<std::string> read() {
        std::vector<std::string> told;
        for (const auto& change : modules_.readDirectory(directory_))
            told.push_back(fmt::format("{} {}{}", change.action, change.name,
                                       change.refused ? ": " + change.refused->sentence() : ""));
        return told;
    }
    [[nodiscard]] bool both() const {
        return modules_.find("one") != nullptr && modules_.find("two") != nullptr;
    }
    /// That of the first one, with this beside it.
    [[nodiscard]] std::string refusalOf(const std::string& placement) {
        write("one.json", placement);
        const auto told = read();
        EXPECT_TRUE(both());
        return told.size() == 1 ? told.front() : fmt::format("{} changes", told.size());
    }

    std::string directory_;
    daemon::CustomModules modules_;
};

TEST_F(CustomModulesTest, WhatIsThereAsBeforeIsNoChange) {
    write("one.json", "{}");
    write("two.json", R"({"hooks": [], "ports": [], "kinds": [], "priority": 100})");
    EXPECT_THAT(read(), ::testing::IsEmpty());
    EXPECT_TRUE(both());
}

TEST_F(CustomModulesTest, WhatIsGoneIsTold) {
    std::filesystem::remove(path("one.bpf.o"));
    EXPECT_EQ(read(), std::vector<std::string>{"removed one"});
    std::filesystem::remove_all(directory_);
    EXPECT_EQ(read(), std::vector<std::string>{"removed two"});
}

TEST_F(CustomModulesTest, StayAsTheyAreWhereTheDirectoryCannotBeRead) {
    std::filesystem::remove_all(directory_);
    ASSERT_TRUE(writeFile(directory_, "no directory"));
    EXPECT_THAT(read(), ::testing::IsEmpty());
    EXPECT_TRUE(both());
    std::filesystem::remove(directory_);
    std::filesystem::create_symlink(directory_, directory_);
    EXPECT_THAT(read(), ::testing::IsEmpty());
    EXPECT_TRUE(both());
}

TEST_F(CustomModulesTest, StayAsTheyAreWhereTheirFilesCannotBeRead) {
    std::filesystem::remove(path("one.bpf.o"));
    ASSERT_EQ(::mkfifo(path("one.bpf.o").c_str(), 0600), 0);
    ASSERT_EQ(::mkfifo(path("two.json").c_str(), 0600), 0);
    const auto told = read();
    ASSERT_EQ(told.size(), 2U);
    EXPECT_THAT(told[0], HasSubstr("refused one: nothing comes out of "));
    EXPECT_THAT(told[1], HasSubstr("refused two: nothing comes out of "));
    EXPECT_TRUE(both());
}

TEST_F(CustomModulesTest, WhatIsTooLargeIsTold) {
    write("two.bpf.o", std::string((std::size_t{1} << 20U) + 1, 'x'));
    const auto told = read();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_THAT(told[0], HasSubstr("two.bpf.o is larger than 1 MiB"));
    EXPECT_TRUE(both());
}

TEST_F(CustomModulesTest, NamesThatAreNoneAreTold) {
    write("a b.bpf.o", "");
    EXPECT_THAT(read(), ::testing::ElementsAre(HasSubstr("no name for a custom module")));
}

TEST_F(CustomModulesTest, PlacementsThatAreNotAsTheyMustBeAreRefused) {
    const std::pair<const char*, const char*> wrong[] = {
        {"", "must be a JSON object"},
        {"[]", "must be a JSON object"},
        {R"({"ports": "p1"})", "must have a list of strings as 'ports', for instance [\"eth*\"]"},
        {R"({"kinds": [1]})", "must have a list of strings as 'kinds'"},
        {R"({"hooks": {}})", "must have a list of strings as 'hooks', for instance [\"ingress\"]"},
        {R"({"hook": ["ingress"]})", "has a field 'hook' that there is not"},
        {R"({"ports": ["eth*", "["]})", "has '[' among 'ports', which is no shell pattern"},
        {R"({"kinds": ["\\"]})", "has '\\' among 'kinds', which is no shell pattern"},
        {R"({"priority": "5"})", "must have a whole number from 0 to 65535 as 'priority'"},
        {R"({"priority": -3})", "from 0 to 65535"},
        {R"({"priority": 65536})", "from 0 to 65535"},
        {R"({"priority": 99999999999})", "from 0 to 65535"},
        {R"({"priority": 5.0})", "from 0 to 65535"},
        {R"({"for": 3})", "has a field 'for' that there is not"},
        {R"({"for": 3, "before": {"hook": []}})", "has a field 'hook' that there is not"},
    };
    for (const auto& [placement, why] : wrong) {
        EXPECT_THAT(refusalOf(placement), HasSubstr("refused one: " + path("one.json"))) << placement;
        EXPECT_THAT(refusalOf(placement), HasSubstr(why)) << placement;
    }
}

TEST_F(CustomModulesTest, PlacementsAreReadAsWritten) {
    const api::Placement placement{{"ingress"}, {"eth*", "p[01]"}, {"veth"}, 65535};
    write("one.json", daemon::placementDocument(placement).dump());
    EXPECT_EQ(daemon::readPlacement(path("one.json"), "one"), placement);
    EXPECT_EQ(daemon::readPlacement(path("none.json"), "one"), api::Placement{});
    auto between = daemon::placementDocument(placement);
    between["for"] = daemon::hashOf("new");
    between["before"] = daemon::placementDocument({});
    write("one.json", between.dump());
    EXPECT_EQ(daemon::readPlacement(path("one.json"), "one"), api::Placement{});
    EXPECT_EQ(daemon::readPlacement(path("one.json"), "new"), placement);
}

} // namespace
} // namespace tna::test
