// SPDX-License-Identifier: Apache-2.0
// Segments of all kinds, within the windows and far outside, one after the other: each comes out where it
// does of plain Linux, whose windows nobody has told it not to mind.
#include "tcp_fixture.hpp"

#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace tna::test {
namespace {

/// What a host says next.
struct Said {
    unsigned host = 0;
    Segment segment;
    bool goesOn = false; ///< its numbers go on by that
    std::string words;
};

class Talk {
public:
    /// Each host has said all after so many segments, and is heard to say more.
    Talk(unsigned seed, std::array<int, 2> ends) : random_(seed), ends_(ends) {}

    Said next() {
        for (const unsigned host : {0U, 1U})
            if (ends_.at(host)-- == 0)
                return {host, {.flags = fin | ack}, true, "a FIN"};
        const unsigned host = below(2);
        switch (below(16)) {
        case 0:
            return {host, {.ahead = far(), .window = window()}, false, "an acknowledgement elsewhere"};
        case 1:
            return {host, {.payload = size(), .ahead = far()}, false, "data elsewhere"};
        case 2:
            return {host, {.payload = size(), .ackAhead = far()}, false, "acknowledges what was not sent"};
        case 3:
            return {host, {.flags = rst, .ahead = std::abs(outside())}, false, "a reset from outside"};
        case 4:
            return {host, {.flags = fin | ack, .ahead = std::abs(outside())}, false, "a FIN from outside"};
        case 5:
            return {host, {.payload = size(), .ackAhead = far(), .options = pieces()}, false, "pieces"};
        case 6:
            return {host, {.payload = size(), .ahead = -std::int64_t{below(3000)}}, false, "once more"};
        case 7:
            return {host, {.payload = size(), .options = {1, 1, 1, 1}}, true, "odd options"};
        case 8:
            return {host, {.flags = urg | ack, .payload = size()}, true, "urgent"};
        case 9:
            return {host, {.window = window()}, false, "another window"};
        case 10:
            if (below(4) == 0)
                return {host, {.flags = syn, .ahead = far(), .options = handshakeOptions}, false, "a SYN"};
            return {host, {.ahead = -1}, false, "is anybody there"};
        case 11:
            if (below(4) == 0)
                return {host, {.flags = syn | ack, .ahead = far()}, false, "an answer to nothing"};
            return {host, {.payload = size(), .ahead = std::int64_t{below(100000)}}, false, "a gap"};
        default:
            return {host, {.flags = psh | ack, .payload = size()}, true, "data"};
        }
    }

private:
    std::uint32_t below(std::uint32_t end) {
        return std::uniform_int_distribution<std::uint32_t>(0, end - 1)(random_);
    }
    std::size_t size() { return std::array{0, 1, 10, 100, 1000, 1400}.at(below(6)); }
    std::optional<std::uint16_t> window() {
        return std::array<std::uint16_t, 5>{0, 1, 100, 1000, 65535}.at(below(5));
    }
    std::int64_t far() {
        if (below(2) == 0)
            return -(std::int64_t{1} << below(31));
        return std::int64_t{1} << (below(2) == 0 ? below(11) : 25 + below(5));
    }
    /// Never within, nor a little behind.
    std::int64_t outside() {
        const auto distance = std::int64_t{1} << (25 + below(5));
        return below(2) == 0 ? distance : -distance;
    }
    std::vector<std::uint8_t> pieces() {
        std::vector<std::uint8_t> options{1, 1, 5, 10};
        for (int i = 0; i < 8; i++)
            options.push_back(static_cast<std::uint8_t>(below(256)));
        return options;
    }
    std::mt19937 random_;
    std::array<int, 2> ends_;
};

class RandomTcp : public Tcp {
protected:
    struct Heard {
        std::string words;
        Arrivals out;
        Path path;
    };
    std::vector<Heard> talk(unsigned seed, bool fast) {
        Talk talk(seed, ends_);
        std::vector<Heard> heard;
        shakeHands();
        pass(1, {.flags = psh | ack, .payload = 50});
        pass(0, {});
        if (fast) {
            EXPECT_TRUE(eventually([&] {
                pump();
                return isLiberal(connection_);
            }));
        }
        for (int i = 0; i < 150; i++) {
            const auto said = talk.next();
            const auto made = frame(said.host, said.segment);
            const auto got = treat(made, said.host);
            if (said.goesOn && !got.out.empty())
                hosts_.at(said.host).sent +=
                    static_cast<std::uint32_t>(said.segment.payload + (said.segment.flags & fin));
            heard.push_back(
                {fmt::format("{}: host {}: {}, payload {}, ahead {}, acknowledges {}", i, said.host,
                             said.words, said.segment.payload, said.segment.ahead, said.segment.ackAhead),
                 got.out, got.path});
        }
        return heard;
    }
    /// Each segment that matters here comes out where it does of plain Linux.
    void compare(const std::vector<unsigned>& seeds, const std::function<bool(const Heard&)>& matters) {
        nft(strict);
        std::vector<std::vector<Heard>> linux;
        for (const auto seed : seeds) {
            linux.push_back(talk(seed, false));
            (void)removeConnection(connection_);
        }
        accelerate();
        if (IsSkipped())
            return;
        rulesAreKnown();
        std::uint64_t fast = 0;
        for (std::size_t number = 0; number < seeds.size(); number++) {
            SCOPED_TRACE(testing::Message() << "seed " << seeds[number]);
            const auto heard = talk(seeds[number], true);
            for (std::size_t i = 0; i < heard.size(); i++) {
                fast += heard[i].path.fast;
                if (heard[i].out == linux[number][i].out)
                    continue;
                if (matters(heard[i]))
                    ADD_FAILURE() << heard[i].words << "; of Linux " << linux[number][i].out.size()
                                  << " came out, here " << heard[i].out.size() << ", "
                                  << ::testing::PrintToString(heard[i].path);
                break; // from here on, they know something else
            }
            (void)removeConnection(connection_);
        }
        EXPECT_GT(fast, least_);
    }

    std::array<int, 2> ends_{-1, -1}; ///< not at all
    std::uint64_t least_ = 50;        ///< segments are fast
};

/// These, or those that are asked for: so many, or from one to another (221..230).
std::vector<unsigned> seedsOr(std::vector<unsigned> seeds) {
    if (const char* asked = std::getenv("TNA_TEST_SEEDS")) {
        const std::string words = asked;
        const auto dots = words.find("..");
        const auto first = dots == std::string::npos ? 1U : static_cast<unsigned>(std::stoul(words));
        const auto last = std::stoul(dots == std::string::npos ? words : words.substr(dots + 2));
        seeds.resize(last + 1 - first);
        std::iota(seeds.begin(), seeds.end(), first);
    }
    return seeds;
}

TEST_F(RandomTcp, SegmentsAreTreatedAsByLinux) {
    compare(seedsOr({1, 2, 3}), [](const Heard& /*heard*/) { return true; });
}

TEST_F(RandomTcp, SegmentsBehindAnEndAreTreatedAsByLinux) {
    ends_ = {40, -1};
    least_ = 10;
    compare(seedsOr({1, 2, 3}), [](const Heard& /*heard*/) { return true; });
}

TEST_F(RandomTcp, SegmentsBehindBothEndsAreTreatedAsByLinux) {
    ends_ = {60, 40};
    least_ = 10;
    compare(seedsOr({1, 2, 3}), [](const Heard& /*heard*/) { return true; });
}

/// Acknowledgements that are too old come with new data: Linux, which minds no windows any more and does not
/// know the last ones, takes them, and then others by them. None of those is fast.
TEST_F(RandomTcp, SegmentsThatAreFastAreTreatedAsByLinux) {
    compare({1, 2, 3, 939}, [](const Heard& heard) { return heard.path == fastPath(); });
}

} // namespace
} // namespace tna::test
