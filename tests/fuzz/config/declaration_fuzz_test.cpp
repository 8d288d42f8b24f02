// SPDX-License-Identifier: Apache-2.0
// Declarations of network functions with random faults: each is taken as a whole, and makes a table or a
// sentence.
#include "functions/steering_table.hpp"
#include "support/mangle.hpp"

#include <gtest/gtest.h>
#include <numeric>

namespace tna::test {
namespace {

constexpr unsigned declarations = 4000;

constexpr std::string_view original = R"(
users = ["nobody"]
groups = ["dns"]
ports = ["p0", "p1"]
queues = [0, 3]
frames = 1024
frame_size = 4096
mode = "copy"
otherwise = "drop"
[[rule]]
priority = 7
ports = ["p1"]
vlan = 5
protocol = "tcp"
from = "10.0.0.0/8"
to = "192.0.2.1"
from_port = "1024-2047"
to_port = 53
tcp_flags = "syn,!ack"
[[rule]]
vlan = "none"
ether_type = 0x88b5
[[rule]]
from = "2001:db8::/32"
protocol = "udp"
to_port = "7-21"
)";

TEST(FuzzDeclarations, SpoiltOnesAreTakenOrRefusedInASentence) {
    Mangler mangler(5);
    unsigned taken = 0, tables = 0;
    for (unsigned i = 0; i < declarations; i++) {
        const auto bytes = mangler.mangle(std::vector<char>(original.begin(), original.end()));
        const std::string text(bytes.begin(), bytes.end());
        const auto read = functions::parseDeclaration(text, "f", "f.toml");
        if (!read) {
            EXPECT_TRUE(read.error().what.starts_with("f.toml:")) << read.error().sentence();
            continue;
        }
        taken++;
        EXPECT_FALSE(read->ports.empty());
        EXPECT_FALSE(read->rules.empty());
        EXPECT_GE(read->frames, 64U);
        functions::Steered steered{0, &*read, std::vector<unsigned>(read->rules.size())};
        std::iota(steered.ruleNumbers.begin(), steered.ruleNumbers.end(), 0U);
        const auto table = functions::makeTable({&steered, 1}, {{"p0", 3}, {"p1", 4}});
        tables += table ? 1 : 0;
        if (HasFailure())
            FAIL() << "in round " << i << ":\n" << text;
    }
    EXPECT_GT(taken, 5U);
    EXPECT_LT(taken, declarations);
    EXPECT_GT(tables, 0U);
}

} // namespace
} // namespace tna::test
