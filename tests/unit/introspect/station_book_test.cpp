// SPDX-License-Identifier: Apache-2.0
#include "introspect/station_book.hpp"

#include <gtest/gtest.h>
#include <map>

namespace tna::introspect {
namespace {

using std::chrono::seconds;

constexpr model::IfIndex bridge = 1, here = 2, there = 3;

model::StationKey key(unsigned number) {
    return {bridge, 0, {{2, 0, 0, 0, 0, static_cast<std::uint8_t>(number)}}};
}
model::StationChange at(unsigned number, model::IfIndex port) {
    return {key(number), model::Station{.port = port}};
}
model::StationChange gone(unsigned number) {
    return {key(number), std::nullopt};
}

class StationBookTest : public ::testing::Test {
protected:
    void announce(const model::StationChange& change) {
        book_.forgetRemoved(now_);
        book_.announced(change);
    }
    /// The ports of stations that are others since the last time, by their numbers; 0: it is gone.
    std::map<unsigned, model::IfIndex> changes() {
        std::map<unsigned, model::IfIndex> ports;
        for (const auto& change : book_.take())
            ports[change.key.mac.bytes[5]] = change.now ? change.now->port : 0;
        return ports;
    }
    using Ports = std::map<unsigned, model::IfIndex>;

    StationBook::Time now_{seconds(1000)};
    StationBook book_;
};

TEST_F(StationBookTest, TellsOnceWhatHasChanged) {
    announce(at(1, here));
    announce(at(2, there));
    announce(gone(2));
    EXPECT_EQ(changes(), (Ports{{1, here}, {2, 0}}));
    announce(at(1, here));
    EXPECT_EQ(changes(), Ports{});
    EXPECT_EQ(book_.size(), 1U);
}

TEST_F(StationBookTest, OneThatMovesIsNowhereUntilLinuxSaysWhereItIs) {
    announce(at(1, here));
    (void)changes();
    announce(at(1, there));
    EXPECT_EQ(changes(), (Ports{{1, model::nowhere}}));
    ASSERT_EQ(book_.doubtful(), 1U);
    EXPECT_EQ(book_.question(), key(1));
    book_.answered(key(1), model::Station{.port = here});
    EXPECT_EQ(changes(), (Ports{{1, here}})) << "the announcements came in another order";
    EXPECT_EQ(book_.doubtful(), 0U);
}

TEST_F(StationBookTest, OneThatComesSoonAfterItsRemovalIsDoubtful) {
    announce(at(1, here));
    announce(gone(1));
    now_ += seconds(9);
    announce(at(1, here));
    EXPECT_EQ(book_.doubtful(), 1U);
    book_.answered(key(1), std::nullopt);
    EXPECT_EQ(book_.doubtful(), 0U);
    EXPECT_EQ(changes(), (Ports{{1, 0}}));
    for (int i = 0; i < 3; i++) {
        now_ += seconds(10);
        announce(at(2, here));
    }
    announce(at(1, here));
    EXPECT_EQ(book_.doubtful(), 0U) << "long after";
}

TEST_F(StationBookTest, WhatADumpDoesNotListIsGone) {
    announce(at(1, here));
    announce(at(2, here));
    (void)changes();
    book_.read(at(1, there));
    book_.keepOnly({key(1)});
    EXPECT_EQ(changes(), (Ports{{1, there}, {2, 0}}));
}

TEST_F(StationBookTest, WhatAComparisonSaysIsAskedForAgain) {
    for (const unsigned number : {1, 2, 3})
        announce(at(number, here));
    (void)changes();
    book_.beginComparison();
    book_.compare(at(1, here));
    book_.compare(at(2, there)); // and 3 is not there
    announce(at(4, here));
    book_.endComparison(true);
    EXPECT_EQ(changes(), (Ports{{2, model::nowhere}, {3, model::nowhere}, {4, here}}));
    EXPECT_EQ(book_.doubtful(), 2U) << "what was announced meanwhile is not missing";
    EXPECT_FALSE(book_.comparing());
}

TEST_F(StationBookTest, QuestionsWaitForTheirTurn) {
    for (const unsigned number : {1, 2}) {
        announce(at(number, here));
        announce(at(number, there));
    }
    EXPECT_EQ(book_.question(), key(1));
    book_.postpone();
    EXPECT_EQ(book_.question(), key(2));
    announce(gone(2));
    EXPECT_EQ(book_.question(), key(1));
}

} // namespace
} // namespace tna::introspect
