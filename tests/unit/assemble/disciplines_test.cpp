// SPDX-License-Identifier: Apache-2.0
// Which queueing disciplines a frame passes as it is, from what netlink says of them.
#include "assemble/disciplines.hpp"

#include "base/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::assemble {
namespace {

using model::Discipline;

/// As the kernel makes it.
Discipline usual(const std::string& kind) {
    Discipline discipline{kind, {}};
    for (const auto& bound : disciplineBounds())
        if (bound.kind == kind && !bound.mayBeAbsent)
            discipline.settings.emplace(bound.setting, bound.least);
    return discipline;
}

model::Link link(const std::string& root, std::set<Discipline> queues) {
    model::Link link;
    link.rootQdisc = root;
    link.queues = std::move(queues);
    return link;
}

TEST(Disciplines, AreKnownByKind) {
    for (const std::string kind : {"noqueue", "pfifo_fast", "fq_codel", "fq"})
        EXPECT_TRUE(isPlain(usual(kind))) << kind;
    for (const std::string kind : {"pfifo", "bfifo", "tbf", "htb", "mq", "mqprio", "multiq", "noop", "codel",
                                   "fq_pie", "fq_codel_fast", "cake", ""})
        EXPECT_FALSE(isPlain(usual(kind))) << kind;
}

TEST(Disciplines, EachSettingCounts) {
    for (const auto& bound : disciplineBounds()) {
        const std::string setting(bound.setting);
        auto discipline = usual(std::string(bound.kind));
        discipline.settings[setting] = bound.least;
        EXPECT_TRUE(isPlain(discipline)) << bound.kind << ' ' << setting;
        discipline.settings[setting] = bound.least + 1;
        EXPECT_TRUE(isPlain(discipline)) << bound.kind << ' ' << setting;
        discipline.settings[setting] = bound.least - 1;
        EXPECT_FALSE(isPlain(discipline)) << bound.kind << ' ' << setting;
        discipline.settings.erase(setting);
        EXPECT_EQ(isPlain(discipline), bound.mayBeAbsent) << bound.kind << ' ' << setting;
    }
}

TEST(Disciplines, SizeTablesAreLinuxs) {
    auto discipline = usual("pfifo_fast");
    discipline.settings["stab"] = 1;
    EXPECT_FALSE(isPlain(discipline));
}

TEST(Disciplines, AllOfALinkCount) {
    EXPECT_TRUE(queuesArePlain(link("noqueue", {})));
    EXPECT_TRUE(queuesArePlain(link("fq_codel", {usual("fq_codel")})));
    EXPECT_TRUE(queuesArePlain(link("mq", {usual("mq"), usual("fq_codel"), usual("pfifo_fast")})));
    EXPECT_FALSE(queuesArePlain(link("mq", {usual("mq"), usual("fq_codel"), usual("tbf")})));
    EXPECT_FALSE(queuesArePlain(link("mq", {usual("mq"), Discipline{"fq_codel", {{"limit", 10}}}})));
    EXPECT_FALSE(queuesArePlain(link("htb", {})));
    EXPECT_FALSE(queuesArePlain(link("", {})));
    EXPECT_FALSE(queuesArePlain(link("fq_codel", {usual("fq_codel"), usual("mq")})));
}

TEST(Disciplines, FiltersOfTheirOwnCount) {
    auto one = link("fq_codel", {usual("fq_codel")});
    one.queueFilters = 1;
    EXPECT_FALSE(queuesArePlain(one));
}

/// The page that people read is made of these lists.
TEST(Disciplines, AreDocumented) {
    const auto page = readFile(TNA_SOURCE_DIR "/docs/queueing.md");
    ASSERT_TRUE(page);
    for (const auto kind : plainKinds())
        EXPECT_THAT(*page, ::testing::HasSubstr("\n| `" + std::string(kind) + "` | ")) << kind;
    for (const auto& bound : disciplineBounds())
        EXPECT_THAT(*page,
                    ::testing::HasSubstr(
                        "\n| `" + std::string(bound.kind) + "` | `" + std::string(bound.setting) + "` | " +
                        (bound.least == 0xffffffff ? std::string("none") : std::to_string(bound.least)) +
                        " | "));
}

} // namespace
} // namespace tna::assemble
