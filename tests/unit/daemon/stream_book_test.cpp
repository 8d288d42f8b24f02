// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream_book.hpp"

#include <gtest/gtest.h>

namespace tna::daemon {
namespace {

using namespace std::chrono_literals;

class Book : public ::testing::Test {
protected:
    std::vector<introspect::ConnectionChange> at(std::chrono::nanoseconds now) {
        return book_.next({{7, stream_}}, now, {});
    }
    /// The one change that there is.
    introspect::ConnectionChange changeAt(std::chrono::nanoseconds now) {
        const auto changes = at(now);
        EXPECT_EQ(changes.size(), 1U);
        return changes.empty() ? introspect::ConnectionChange{} : changes.front();
    }
    StreamBook book_;
    tna_stream stream_{.born = 1, .used = 10, .judged = 3};
};

TEST_F(Book, NewConnectionsBecomeLiberalOnce) {
    const auto change = changeAt(1s);
    EXPECT_TRUE(change.liberal);
    EXPECT_FALSE(change.timeout);
    EXPECT_FALSE(change.unacknowledged);
    EXPECT_TRUE(at(2s).empty());
    stream_.born = 2;
    EXPECT_TRUE(changeAt(3s).liberal) << "another one of which the entry is in the same place";
}

TEST_F(Book, IdleConnectionsAreSettledOnce) {
    ASSERT_EQ(at(1s).size(), 1U);
    stream_.used = 11;
    EXPECT_TRUE(at(2s).empty());
    EXPECT_TRUE(at(2s + 999ms).empty());
    const auto change = changeAt(5s);
    EXPECT_EQ(change.timeout, 432000U - 3);
    EXPECT_EQ(change.unacknowledged, (std::array{false, false}));
    EXPECT_TRUE(change.liberal);
    EXPECT_FALSE(change.closed);
    EXPECT_TRUE(at(9s).empty());
    stream_.used = 12;
    EXPECT_TRUE(at(10s).empty());
    EXPECT_EQ(at(12s).size(), 1U);
}

TEST_F(Book, InTheEndAllAreSettled) {
    EXPECT_TRUE(book_.last({{7, stream_}}, 1s, {}).empty())
        << "Linux has never been told not to mind its windows";
    ASSERT_EQ(at(1s).size(), 1U);
    EXPECT_TRUE(book_.last({{7, stream_}}, 2s, {}).empty()) << "Linux has seen all of it";
    stream_.used = 11;
    ASSERT_EQ(book_.last({{7, stream_}}, 2s, {}).size(), 1U);
    EXPECT_TRUE(at(3s).empty());
    const auto changes = book_.last({{7, stream_}}, 3s + 500ms, {});
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes.front().timeout, 432000U);
    EXPECT_EQ(at(5s).size(), 1U);
    EXPECT_TRUE(book_.last({{7, stream_}}, 9s, {}).empty());
}

TEST_F(Book, DataThatIsNotAcknowledgedMakesThemShort) {
    ASSERT_EQ(at(1s).size(), 1U);
    stream_.used = 11;
    stream_.sides[1].end = 5;
    EXPECT_TRUE(at(2s).empty());
    const auto change = changeAt(4s);
    EXPECT_EQ(change.unacknowledged, (std::array{false, true}));
    EXPECT_EQ(change.timeout, 300U - 2);
}

/// What is known of its windows is from before.
TEST_F(Book, NothingIsKnownOfDataOfConnectionsThatWereFastBefore) {
    stream_.judged = 0;
    ASSERT_EQ(at(1s).size(), 1U);
    stream_.used = 11;
    stream_.sides[1].end = 5;
    EXPECT_TRUE(at(2s).empty());
    EXPECT_EQ(changeAt(4s).timeout, 432000U - 2);
    stream_.lost = 1;
    stream_.used = 12;
    EXPECT_TRUE(at(5s).empty());
    EXPECT_EQ(changeAt(7s).timeout, 300U - 2) << "they have been followed, but for one segment";
}

TEST_F(Book, ShutWindowsMakeThemShort) {
    ASSERT_EQ(at(1s).size(), 1U);
    stream_.used = 11;
    stream_.shut = 1;
    EXPECT_TRUE(at(2s).empty());
    EXPECT_EQ(changeAt(4s).timeout, 300U - 2);
}

/// Linux has seen it, and knows how soon it will forget the connection.
TEST_F(Book, ResetThatDoesNotEndThemMakesThemNoLonger) {
    ASSERT_EQ(at(1s).size(), 1U);
    stream_.used = 11;
    stream_.last_other = TNA_LAST_RESET;
    EXPECT_TRUE(at(2s).empty());
    const auto change = changeAt(4s);
    EXPECT_FALSE(change.closed);
    EXPECT_TRUE(change.shortens);
    EXPECT_EQ(change.timeout, 300U - 2);
}

/// Connection tracking has given them more time then, as it would not have.
TEST_F(Book, SegmentsOutsideOfTheWindowsDoNotMakeThemLonger) {
    ASSERT_EQ(at(1s).size(), 1U);
    stream_.used = 11;
    EXPECT_TRUE(at(2s).empty());
    EXPECT_EQ(changeAt(4s).timeout, 432000U - 2);
    stream_.disturbed = 1;
    EXPECT_EQ(changeAt(12s).timeout, 432000U - 10);
    EXPECT_TRUE(at(13s).empty());
    stream_.disturbed = 2;
    ASSERT_EQ(book_.last({{7, stream_}}, 14s, {}).size(), 1U);
    EXPECT_EQ(changeAt(432100s).timeout, 0U) << "it would be gone";
}

/// nf_tcp_handle_invalid()
TEST_F(Book, BothSidesThatGiveThemUpMakeThemShort) {
    ASSERT_EQ(at(1s).size(), 1U);
    stream_.used = 11;
    EXPECT_TRUE(at(2s).empty());
    EXPECT_EQ(at(4s).size(), 1U);
    stream_.given_up_after = 11;
    stream_.given_up_at = 20'000'000'000;
    EXPECT_EQ(changeAt(21s).timeout, 300U - 1);
    EXPECT_TRUE(at(22s).empty());
    stream_.used = 12;
    EXPECT_TRUE(at(23s).empty());
    EXPECT_EQ(changeAt(25s).timeout, 432000U - 2) << "it has gone on";
}

TEST_F(Book, WhatIsShortAnywayIsNotMadeShorter) {
    ASSERT_EQ(book_.next({{7, stream_}}, 1s, {.established = 400}).size(), 1U);
    stream_.used = 11;
    EXPECT_TRUE(book_.next({{7, stream_}}, 2s, {.established = 400}).empty());
    stream_.given_up_after = 11;
    stream_.given_up_at = 292'000'000'000; // 110 s are left
    const auto changes = book_.next({{7, stream_}}, 293s, {.established = 400, .unacknowledged = 3});
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes.front().timeout, 109U);
}

TEST_F(Book, ResetConnectionsAreClosedAtOnceAndForGood) {
    ASSERT_EQ(at(1s).size(), 1U);
    stream_.used = 11;
    stream_.reset = 1;
    const auto change = changeAt(2s);
    EXPECT_TRUE(change.closed);
    EXPECT_EQ(change.timeout, 10U);
    stream_.used = 12;
    EXPECT_TRUE(at(3s).empty());
    EXPECT_TRUE(at(9s).empty());
}

/// Whenever that was: before anybody has been told of them, or when all else had been settled.
TEST_F(Book, ResetConnectionsAreClosedInTheEnd) {
    stream_.reset = 1;
    const auto changes = book_.last({{7, stream_}}, 1s, {});
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_TRUE(changes.front().closed);
    stream_.reset = 0;
    ASSERT_EQ(at(1s).size(), 1U);
    EXPECT_TRUE(book_.last({{7, stream_}}, 4s, {}).empty());
    stream_.reset = 1;
    ASSERT_EQ(book_.last({{7, stream_}}, 4s, {}).size(), 1U);
    ASSERT_EQ(at(4s).size(), 1U);
    EXPECT_TRUE(book_.last({{7, stream_}}, 5s, {}).empty());
}

} // namespace
} // namespace tna::daemon
