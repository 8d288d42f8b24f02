// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bridge_fixture.hpp"

#include "support/ipv4.hpp"
#include "support/ipv6.hpp"

#include <filesystem>
#include <netinet/in.h>

namespace tna::test {

/// A packet of a flow, as it lies on the wire.
struct Flow {
    bool six = false;
    bool tcp = false;
    std::uint16_t to = 5000; ///< the port
    unsigned from = 1;       ///< the station
    std::uint8_t tos = 0;
    std::uint8_t ttl = 64;
    std::uint8_t flags = 0x10; ///< of TCP
    std::uint16_t fragment = 0;
    std::size_t payload = 40;
};

/// A bridge with rules of its own (family bridge); the stations behind its ports are known.
class BridgeRulesTest : public BridgeTest {
public:
    [[nodiscard]] static Frame packet(const Flow& flow) {
        const auto protocol = static_cast<std::uint8_t>(flow.tcp ? IPPROTO_TCP : IPPROTO_UDP);
        auto made = flow.six ? ipv6Frame(station(2), station(flow.from),
                                         {.to = "fd00:0:0:1::2", .next = protocol, .payload = flow.payload})
                             : ipv4Frame(station(2), station(flow.from),
                                         {.ttl = flow.ttl,
                                          .tos = flow.tos,
                                          .fragment = flow.fragment,
                                          .protocol = protocol,
                                          .payload = flow.payload});
        const std::size_t at = flow.six ? 54 : 34;
        put(made, at, 4000);
        put(made, at + 2, flow.to);
        if (flow.tcp) {
            put(made, at + 12, 0x5000U | flow.flags);
            put(made, at + 14, 1000); // the window
        } else {
            put(made, at + 4, flow.payload);
        }
        return made;
    }

protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (IsSkipped())
            return;
        if (command({"nft", "table bridge first { chain c { type filter hook forward priority 0; }; }"})
                .exitCode != 0)
            GTEST_SKIP() << "needs nft, and a kernel with rules of bridges";
        nft("delete table bridge first");
        for (const unsigned number : {1U, 2U, 3U, 4U})
            must("bridge fdb replace " + text(station(number)) + " dev p" +
                 std::to_string(number == 4 ? 0 : number - 1) + " master static");
        config_.limits.connections = 1024;
    }
    static void nft(const std::string& words) { must("nft " + words); }
    static void put(Frame& frame, std::size_t at, std::size_t value) {
        frame.bytes.at(at) = static_cast<std::uint8_t>(value >> 8U);
        frame.bytes.at(at + 1) = static_cast<std::uint8_t>(value);
    }
    /// A table of the family bridge with these words, and the controller; until the rules are known.
    void begin(const std::string& words) {
        nft("table bridge guard { " + words + " }");
        accelerate();
        if (!IsSkipped())
            known();
    }
    void known() {
        ASSERT_TRUE(eventually([&] {
            pump();
            const auto rules = controller_->rules()["learning"];
            return rules["bridge"].is_object() && rules["bridge"]["active"] == true &&
                   rules["generation"] == controller_->rules()["generation"];
        })) << controller_->rules().dump();
    }
    static std::string forward(const std::string& rules) {
        return "chain forward { type filter hook forward priority 0; " + rules + " };";
    }
    void expect(const Path& path, const Frame& frame, unsigned in = 0, unsigned out = 1) {
        EXPECT_EQ(treat(frame, in), (Treatment{path, {{out, {frame}}}}));
    }
    void expectDropped(const char* reason, const Frame& frame, unsigned in = 0) {
        EXPECT_EQ(treat(frame, in), (Treatment{slowPath(reason), {}}));
    }
    void learned(const Frame& frame, const char* reason = "flow-unknown") {
        expect(slowPath(reason), frame);
        expect(fastPath(), frame);
    }
    /// Never fast, for this reason.
    void expectLinux(const char* reason, const Frame& frame) {
        for (int i = 0; i < 3; i++)
            expect(slowPath(reason), frame);
    }
};

} // namespace tna::test
