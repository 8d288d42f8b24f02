// SPDX-License-Identifier: Apache-2.0
// Configuration files with random faults: each is taken as a whole, or refused with the line at fault.
#include "base/file.hpp"
#include "config/config.hpp"
#include "support/mangle.hpp"

#include <algorithm>
#include <bit>
#include <gtest/gtest.h>

namespace tna::test {
namespace {

constexpr unsigned rounds = 8000;

void expectSound(const config::Config& config) {
    EXPECT_GE(config.limits.maxPorts, 2U);
    EXPECT_LE(config.limits.maxPorts, 65535U);
    EXPECT_TRUE(std::has_single_bit(config.limits.flowsPerCpu));
    EXPECT_GE(config.limits.flowsPerCpu, 64U);
    EXPECT_LE(config.limits.flowsPerCpu, 1U << 20U);
}

/// "NAME:LINE: ...", and the line is one of the file's (or just behind it).
void expectLine(const std::string& what, const std::string& text) {
    const std::string start = "tnad.conf:";
    ASSERT_TRUE(what.starts_with(start)) << what;
    std::size_t digits = 0;
    const auto line = std::stoul(what.substr(start.size()), &digits);
    EXPECT_EQ(what.at(start.size() + digits), ':') << what;
    EXPECT_GE(line, 1U) << what;
    EXPECT_LE(line, static_cast<std::size_t>(std::ranges::count(text, '\n')) + 2) << what;
}

TEST(FuzzConfig, SpoiltFilesAreTakenOrRefusedWithTheirLine) {
    const auto original = readFile(TNA_CONF);
    ASSERT_TRUE(original);
    ASSERT_TRUE(config::parseConfig(*original, "tnad.conf"));
    Mangler mangler(3);
    unsigned taken = 0;
    for (unsigned i = 0; i < rounds; i++) {
        const auto bytes = mangler.mangle(std::vector<char>(original->begin(), original->end()));
        const std::string text(bytes.begin(), bytes.end());
        const auto config = config::parseConfig(text, "tnad.conf");
        if (config) {
            taken++;
            expectSound(*config);
        } else {
            expectLine(config.error().what, text);
        }
        if (HasFailure()) {
            FAIL() << "in round " << i << ":\n" << text;
        }
    }
    EXPECT_GT(taken, rounds / 100);
    EXPECT_LT(taken, rounds);
}

} // namespace
} // namespace tna::test
