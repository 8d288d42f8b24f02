// SPDX-License-Identifier: Apache-2.0
// A custom module in XDP and a network function in user space that share a map: examples/deny.bpf.c, guard.c.
#include "base/file.hpp"
#include "netns/functions/functions_fixture.hpp"
#include "support/packets.hpp"
#include "tnactl/client.hpp"

namespace tna::test {
namespace {

class Hybrid : public StartedFunctionsTest {
protected:
    void SetUp() override {
        if (kernelIsOlderThan(6, 6))
            GTEST_SKIP() << "functions that give frames back need Linux 6.6";
        StartedFunctionsTest::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        const auto inserted =
            ctl::Client(socket()).put("/v1/modules/deny?port=p0", readFile(TNA_DENY).value_or(""));
        ASSERT_TRUE(inserted) << inserted.error().sentence();
        ASSERT_EQ(declare("guard", R"(
users = ["nobody"]
ports = ["p0"]
[[rule]]
ether_type = "ipv4"
protocol = "tcp"
tcp_flags = "syn,!ack"
)"),
                  "");
        ASSERT_EQ(::chmod(directory_.c_str(), 0755), 0);
        guard_.emplace(std::vector<std::string>{"sh", "-c",
                                                std::string("exec ") + TNA_GUARD + " guard " +
                                                    std::to_string(mapId()) + " 10 " + functionSocket() +
                                                    " >" + directory_ + "/said 2>&1"});
        ASSERT_TRUE(becomes("guard", "connected")) << said();
    }
    void TearDown() override {
        guard_.reset();
        StartedFunctionsTest::TearDown();
    }
    [[nodiscard]] nlohmann::json module() const {
        return ctl::Client(socket()).get("/v1/modules/deny").value_or(nlohmann::json::object());
    }
    [[nodiscard]] unsigned mapId() const {
        const auto document = module();
        for (const auto& map : document["maps"])
            if (map["name"] == "denied")
                return map["id"];
        return 0;
    }
    [[nodiscard]] std::string said() const { return readFile(directory_ + "/said").value_or(""); }
    [[nodiscard]] static Frame segment(const std::string& from, std::uint8_t flags) {
        auto frame = FrameBuilder().ethernet(station(2), station(1)).etherType(0x0800).raw(0);
        const auto packet = packets::tcpPacket({from, "10.0.0.2", 4000, 80}, flags);
        frame.bytes.insert(frame.bytes.end(), packet.begin(), packet.end());
        return frame;
    }
    /// It comes out where it did without anybody.
    [[nodiscard]] bool passes(const Frame& frame) {
        far(0).send(frame);
        return arrivesAt(1) == frame;
    }

    static constexpr std::uint8_t syn = 2, ack = 16;
    std::optional<Process> guard_;
};

TEST_F(Hybrid, WhoBeginsTooMuchIsDroppedByTheModule) {
    const std::string good = "10.0.0.1", bad = "10.0.0.66";
    EXPECT_TRUE(passes(segment(good, syn)));
    EXPECT_TRUE(passes(segment(bad, syn)));
    ASSERT_TRUE(eventually([&] {
        far(0).send(segment(bad, syn));
        return said().find("denied 10.0.0.66\n") != std::string::npos;
    })) << said();
    while (!nothingAt(1)) // what was on its way
        continue;
    for (const auto flags : {syn, ack}) {
        far(0).send(segment(bad, flags));
        EXPECT_TRUE(nothingAt(1));
        EXPECT_TRUE(passes(segment(good, flags)));
    }
    EXPECT_GE(module()["counters"][0]["drop"], 2) << module();
    guard_.reset();
    EXPECT_TRUE(becomes("guard", "nobody"));
    far(0).send(segment(bad, ack));
    EXPECT_TRUE(nothingAt(1)) << "what it has decided holds without it";
    EXPECT_TRUE(passes(segment(good, syn)));
}

} // namespace
} // namespace tna::test
