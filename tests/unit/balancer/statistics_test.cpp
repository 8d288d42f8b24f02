// SPDX-License-Identifier: Apache-2.0
#include "frames.hpp"
#include "statistics.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace tna::balancer::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Telling : public Frames {
protected:
    Telling() {
        for (const std::uint16_t port : {std::uint16_t{53}, std::uint16_t{54}}) {
            auto frame = frameOf(udpPacket({"198.51.100.2", "192.0.2.80", 4000, port}));
            statistics_.count(balancer_->treat(frame, late));
        }
        balancer_->setUp(0, 1, false);
    }
    Statistics statistics_;
    tna_function_counts counts_{};
};

TEST_F(Telling, InWordsIsWhatThereIs) {
    const auto text = inWords(statistics_, *balancer_, counts_, late);
    EXPECT_THAT(text, HasSubstr("received 2, sessions 1 of 1000, evicted 0, moved 0\n"));
    EXPECT_THAT(text, HasSubstr("  1 forwarded: to a backend\n  1 no-service: to Linux as it is"));
    EXPECT_THAT(text, Not(HasSubstr("replied")));
    EXPECT_THAT(text, Not(HasSubstr("lost before")));
    EXPECT_THAT(text, HasSubstr("web:\n  10.0.1.11:8080 up, weight 1: sessions 0 (chosen 0)"));
    EXPECT_THAT(text, HasSubstr("  10.0.1.12:8080 down, weight 1"));
    EXPECT_THAT(
        text,
        HasSubstr("dns:\n  10.0.1.11:5353 up, weight 1: sessions 1 (chosen 1), packets 1 to it, 0 from it"));
    counts_.lost = 5;
    EXPECT_THAT(inWords(statistics_, *balancer_, counts_, late), HasSubstr("lost before 5, invalid 0\n"));
}

TEST_F(Telling, AsJsonIsAll) {
    counts_.lost = 5;
    const auto document = nlohmann::json::parse(asJson(statistics_, *balancer_, counts_, late));
    EXPECT_EQ(document["received"], 2);
    EXPECT_EQ(document["lost"], 5);
    EXPECT_EQ(document["outcomes"].size(), outcomeWords.size());
    EXPECT_EQ(document["outcomes"]["forwarded"], 1);
    EXPECT_EQ(document["sessions"].dump(), R"({"evicted":0,"most":1000,"moved":0,"now":1})");
    EXPECT_EQ(document["services"][0]["name"], "web");
    EXPECT_EQ(document["services"][0]["backends"][1]["up"], false);
    EXPECT_EQ(document["services"][2]["backends"][0].dump(),
              R"({"bytes":48,"chosen":1,"endpoint":"10.0.1.11:5353","packets":1,"replies":0,"reply_bytes":0,)"
              R"("sessions":1,"up":true,"weight":1})");
}

} // namespace
} // namespace tna::balancer::test
