// SPDX-License-Identifier: Apache-2.0
// Connections of TCP in a flowtable: segments, their end, and what connection tracking says of them.
#include "flowtable_fixture.hpp"
#include "tcp_fixture.hpp"

#include <regex>

namespace tna::test {
namespace {

/// A router whose rules put connections of TCP into a flowtable; and two hosts that have one.
class FlowtableTcp : public Tcp {
protected:
    static constexpr const char* offloading =
        "table inet guard { flowtable ft { hook ingress priority 0; devices = { p0, p1, p2 }; };"
        " chain forward { type filter hook forward priority 0; ct state established flow add @ft; }; }";

    void SetUp() override {
        Tcp::SetUp();
        if (IsSkipped())
            return;
        config_.limits.connections = 0;
        if (!hasFlowtables(offloading))
            GTEST_SKIP() << needsFlowtables;
    }
    /// What `conntrack -L` says of the connection, and the time that is left, in minutes.
    std::string entry() {
        const auto told = command({"conntrack", "-L", "-p", "tcp"}).output;
        return std::regex_replace(told, std::regex("^tcp +6 [0-9]+ "), "") + " " +
               std::to_string((timeout() + 59) / 60);
    }
    /// All of a connection, from host to host; what connection tracking says of it after each segment.
    std::vector<std::string> talk(bool fast, std::uint8_t last) {
        std::vector<std::string> entries;
        const auto say = [&](unsigned host, const Segment& segment, bool inTable) {
            const auto path = pass(host, segment);
            if (fast) {
                EXPECT_EQ(path.fast, inTable ? 1U : 0U) << entries.size();
            }
            entries.push_back(entry());
        };
        hosts_ = {Host{1000}, Host{900000}};
        say(0, {.flags = syn, .options = handshakeOptions}, false);
        say(1, {.flags = syn | ack, .options = handshakeOptions}, false);
        say(0, {}, false); // the rules put it into the table
        for (int i = 0; i < 3; i++) {
            say(0, {.flags = psh | ack, .payload = 100}, true);
            say(1, {.flags = psh | ack, .payload = 1000}, true);
        }
        say(1, {.payload = 1, .ahead = 1U << 30U, .window = 0}, true); // outside of all windows
        say(0, {.flags = static_cast<std::uint8_t>(last | ack)}, false);
        say(1, {}, false); // Linux has taken the flow out
        return entries;
    }
};

TEST_F(FlowtableTcp, ConnectionsAreAsWithLinuxAlone) {
    for (const auto last : {fin, rst}) {
        const auto linux = talk(false, last);
        if (!controller_)
            accelerate();
        must("conntrack -D -p tcp");
        EXPECT_EQ(talk(true, last), linux);
        must("conntrack -D -p tcp");
        controller_.reset();
    }
}

} // namespace
} // namespace tna::test
