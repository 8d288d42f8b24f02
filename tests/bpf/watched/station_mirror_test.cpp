// SPDX-License-Identifier: Apache-2.0
// The table of stations, as the fast path finds it.
#include "base/unique_fd.hpp"
#include "deploy/fdb/station_mirror.hpp"

#include <algorithm>
#include <array>
#include <bpf/bpf.h>
#include <gtest/gtest.h>

namespace tna::test {
namespace {

class StationsTable : public ::testing::Test {
protected:
    void SetUp() override {
        LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
        stations_.reset(bpf_map_create(BPF_MAP_TYPE_HASH, "test_stations", sizeof(tna_station_key),
                                       sizeof(tna_station), 4, nullptr));
        uses_.reset(bpf_map_create(BPF_MAP_TYPE_ARRAY, "test_uses", 4, sizeof(tna_station_use), 4, &options));
        if (!stations_ || !uses_)
            GTEST_SKIP() << "needs root, for it makes BPF maps";
        auto opened = deploy::StationMirror::open(stations_.get(), uses_.get(), 4);
        ASSERT_TRUE(opened) << opened.error().sentence();
        mirror_.emplace(std::move(*opened));
    }
    static model::StationKey key(std::uint8_t number) {
        return {.bridge = 1, .vlan = 0, .mac = {{2, 0, 0, 0, 0, number}}};
    }
    void put(std::uint8_t number) { ASSERT_TRUE(mirror_->apply({{key(number), model::Station{.port = 7}}})); }
    void remove(std::uint8_t number) { ASSERT_TRUE(mirror_->apply({{key(number), std::nullopt}})); }
    [[nodiscard]] std::optional<tna_station> entry(std::uint8_t number) const {
        tna_station_key in{1, 0, {}};
        std::ranges::copy(key(number).mac.bytes, in.mac);
        tna_station value{};
        return bpf_map_lookup_elem(stations_.get(), &in, &value) == 0 ? std::optional(value) : std::nullopt;
    }
    [[nodiscard]] std::optional<unsigned> use(std::uint8_t number) const {
        const auto found = entry(number);
        return found ? std::optional<unsigned>(found->use) : std::nullopt;
    }
    [[nodiscard]] std::optional<unsigned> portOf(std::uint8_t number) const {
        const auto found = entry(number);
        return found ? std::optional<unsigned>(found->port) : std::nullopt;
    }

    UniqueFd stations_;
    UniqueFd uses_;
    std::optional<deploy::StationMirror> mirror_;
};

/// One that found no room, and moves when there is some, is where it has moved to.
TEST_F(StationsTable, WhatIsKnownOfAStationThatFoundNoRoomIsForgottenWhenItIsEntered) {
    for (const auto number : std::to_array<std::uint8_t>({1, 2, 3, 4}))
        put(number);
    put(5);
    ASSERT_FALSE(use(5));
    ASSERT_TRUE(mirror_->apply(
        {{key(1), std::nullopt}, {key(2), std::nullopt}, {key(5), model::Station{.port = 8}}}));
    EXPECT_EQ(portOf(5), 8U);
}

/// A program that still runs may write there what it has seen of the station that is gone.
TEST_F(StationsTable, WhatAStationLeavesIsTheLastThatAnotherOneGets) {
    put(1);
    const auto left = use(1);
    ASSERT_TRUE(left);
    remove(1);
    for (const auto number : std::to_array<std::uint8_t>({2, 3, 4})) {
        put(number);
        EXPECT_NE(use(number), left);
    }
    put(5);
    EXPECT_EQ(use(5), left);
}

} // namespace
} // namespace tna::test
