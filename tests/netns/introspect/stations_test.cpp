// SPDX-License-Identifier: Apache-2.0
#include "namespace.hpp"

#include "introspect/stations.hpp"
#include "support/station_announcement.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace tna::test {
namespace {

/// A bridge with the ports v0 and w0.
class StationsOfNamespace : public IntrospectTest {
protected:
    static constexpr const char* first = "02:00:00:00:00:01";

    void SetUp() override {
        IntrospectTest::SetUp();
        if (IsSkipped())
            return;
        run("ip link add br0 up type bridge; ip link add v0 up type veth peer name v1;"
            "ip link add w0 up type veth peer name w1; ip link set v0 master br0; ip link set w0 master br0");
        auto home = NetNamespace::named(ns_->name());
        ASSERT_TRUE(home);
        auto scope = NamespaceScope::enter(*home);
        ASSERT_TRUE(scope);
        scope_.emplace(std::move(*scope));
    }
    void follow(std::size_t receiveBuffer) {
        auto stations = introspect::Stations::open(receiveBuffer);
        ASSERT_TRUE(stations) << stations.error().sentence();
        stations_.emplace(std::move(*stations));
        process();
        ASSERT_TRUE(stations_->complete());
    }
    void process() {
        const auto done = stations_->process([&] { closed_++; });
        ASSERT_TRUE(done) << done.error().sentence();
        take();
    }
    void confirm() {
        const auto done = stations_->confirm();
        ASSERT_TRUE(done) << done.error().sentence();
        take();
    }
    void take() {
        for (const auto& change : stations_->take())
            if (change.now)
                known_[change.key.mac.text()] = change.now->port;
            else
                known_.erase(change.key.mac.text());
    }
    void announce(std::uint16_t type, std::uint8_t lastOfMac, const char* port) {
        announceStation(type, std::array<std::uint8_t, 6>{2, 0, 0, 0, 0, lastOfMac}, port);
    }
    /// Until nothing waits any more.
    void processAll() {
        for (int round = 0; round < 100; round++) {
            process();
            confirm();
        }
    }
    void put(const std::string& mac, const std::string& port) const {
        run("bridge fdb replace " + mac + " dev " + port + " master static");
    }
    void putMany(unsigned count) const {
        run(fmt::format("for i in $(seq 0 {}); do printf \"fdb replace 02:01:00:00:%02x:%02x dev v0 master "
                        "static\\n\" $((i / 256)) $((i % 256)); done | bridge -batch -",
                        count - 1));
    }
    /// Where the mirror has a station; 0: nowhere.
    [[nodiscard]] unsigned known(const std::string& mac) const {
        const auto it = known_.find(mac);
        return it == known_.end() ? 0 : it->second;
    }

    std::optional<NamespaceScope> scope_;
    std::optional<introspect::Stations> stations_;
    std::map<std::string, unsigned> known_;
    unsigned closed_ = 0; ///< how often it was told that something is missing
};

/// The kernel tells of the first lost announcement only, until all that waits has been read.
TEST_F(StationsOfNamespace, NoneIsLostAfterAnnouncementsWereLost) {
    ASSERT_NO_FATAL_FAILURE(follow(5U << 20U));
    put(first, "v0");
    process();
    putMany(20000);
    process();
    EXPECT_EQ(closed_, 1U);
    EXPECT_TRUE(stations_->complete());
    put(first, "w0");
    processAll();
    EXPECT_TRUE(stations_->complete());
    EXPECT_EQ(known(first), if_nametoindex("w0"));
    EXPECT_GE(known_.size(), 20000U);
}

TEST_F(StationsOfNamespace, AreNotCompleteWhileAnnouncementsWait) {
    ASSERT_NO_FATAL_FAILURE(follow(16U << 20U));
    putMany(6000);
    put(first, "w0");
    process();
    EXPECT_EQ(known(first), 0U) << "one call has taken all";
    EXPECT_FALSE(stations_->complete());
    EXPECT_EQ(closed_, 1U);
    process();
    EXPECT_TRUE(stations_->complete());
    EXPECT_EQ(known(first), if_nametoindex("w0"));
    EXPECT_EQ(stations_->stats().readings, 1U);
}

/// The kernel may announce a move later than the removal that came after it.
TEST_F(StationsOfNamespace, OneIsNotThereAgainByAnAnnouncementAfterItsRemoval) {
    ASSERT_NO_FATAL_FAILURE(follow(1U << 20U));
    put(first, "v0");
    process();
    EXPECT_EQ(known(first), if_nametoindex("v0"));
    run(std::string{"bridge fdb del "} + first + " dev v0 master");
    announce(RTM_NEWNEIGH, 1, "w0");
    process();
    EXPECT_EQ(known(first), model::nowhere);
    confirm();
    EXPECT_EQ(known(first), 0U);
    put(first, "w0");
    process();
    confirm();
    EXPECT_EQ(known(first), if_nametoindex("w0"));
}

/// It may announce two moves the wrong way round.
TEST_F(StationsOfNamespace, OneIsWhereLinuxHasItWhateverWasAnnouncedLast) {
    ASSERT_NO_FATAL_FAILURE(follow(1U << 20U));
    put(first, "v0");
    process();
    put(first, "w0");
    announce(RTM_NEWNEIGH, 1, "v0");
    process();
    EXPECT_EQ(known(first), model::nowhere);
    confirm();
    EXPECT_EQ(known(first), if_nametoindex("w0"));
}

TEST_F(StationsOfNamespace, AreComparedWithThoseOfLinuxWhenSuspected) {
    ASSERT_NO_FATAL_FAILURE(follow(1U << 20U));
    put(first, "v0");
    put("02:00:00:00:00:02", "v0");
    announce(RTM_DELNEIGH, 1, "v0");
    announce(RTM_NEWNEIGH, 9, "v0");
    process();
    confirm();
    EXPECT_EQ(known(first), 0U);
    EXPECT_EQ(known("02:00:00:00:00:09"), if_nametoindex("v0"));
    stations_->suspect();
    process();
    EXPECT_EQ(known("02:00:00:00:00:09"), model::nowhere);
    confirm();
    EXPECT_EQ(known(first), if_nametoindex("v0"));
    EXPECT_EQ(known("02:00:00:00:00:02"), if_nametoindex("v0"));
    EXPECT_EQ(known("02:00:00:00:00:09"), 0U);
    EXPECT_EQ(closed_, 0U);
}

/// However many there are, the first one waits no longer than it has to.
TEST_F(StationsOfNamespace, AreAskedForInTurn) {
    ASSERT_NO_FATAL_FAILURE(follow(16U << 20U));
    putMany(3000);
    processAll();
    ASSERT_GE(known_.size(), 3000U);
    const std::vector<std::array<std::uint8_t, 6>> order = [] {
        std::vector<std::array<std::uint8_t, 6>> macs;
        for (unsigned i = 0; i < 3000; i++)
            macs.push_back({2, 1, 0, 0, static_cast<std::uint8_t>(i / 256), static_cast<std::uint8_t>(i)});
        return macs;
    }();
    for (const auto& mac : order)
        ASSERT_NO_FATAL_FAILURE(announceStation(RTM_NEWNEIGH, mac, "w0"));
    process();
    process();
    const auto doubtful = [&](const std::array<std::uint8_t, 6>& mac) {
        return known(model::MacAddress{mac}.text()) == model::nowhere;
    };
    ASSERT_EQ(std::ranges::count_if(order, doubtful), 3000);
    confirm();
    const auto first = std::ranges::find_if(order, doubtful);
    EXPECT_NE(first, order.begin()) << "nothing was asked";
    EXPECT_NE(first, order.end()) << "all was asked at once";
    EXPECT_TRUE(std::all_of(first, order.end(), doubtful));
}

TEST_F(StationsOfNamespace, OfABridgeThatIsGoneAreGone) {
    ASSERT_NO_FATAL_FAILURE(follow(1U << 20U));
    put(first, "v0");
    process();
    announce(RTM_NEWNEIGH, 1, "w0");
    process();
    run("ip link del br0");
    confirm();
    EXPECT_EQ(known(first), 0U);
}

} // namespace
} // namespace tna::test
