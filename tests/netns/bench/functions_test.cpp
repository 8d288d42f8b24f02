// SPDX-License-Identifier: Apache-2.0
// Whether the benchmark of network functions measures what it says; never how fast anything is.
#include "bench/functions/study.hpp"
#include "support/eventually.hpp"
#include "support/kernel.hpp"
#include "support/namespace.hpp"
#include "support/packet_port.hpp"
#include "unwatched.hpp"

#include <chrono>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utility>

namespace tna::bench {
namespace {

using workload::Work;

class BenchFunctions : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto why = test::cannotUseNamespaces(); !why.empty())
            GTEST_SKIP() << why;
        if (test::kernelIsOlderThan(6, 6))
            GTEST_SKIP() << "functions give nothing back to Linux before 6.6";
    }
    static FunctionsOptions options() {
        FunctionsOptions options;
        options.contestants = {"linux", "poll", "xdp", "xdp-sk"};
        options.rates = {"full"};
        options.checksums = {3};
        options.lines = {64};
        options.rules = {50};
        options.shares = {50};
        options.rounds = 1;
        options.seconds = 0.05;
        options.trial = 0.03;
        options.tnad = TNAD;
        options.workload = TNA_WORKLOAD;
        return options;
    }
    static FunctionsResult measured(const FunctionsOptions& options) {
        Unwatched watcher;
        auto result = measureFunctions(options, watcher, [](const FunctionsPlan&) { return true; });
        EXPECT_TRUE(result) << result.error().sentence();
        return result ? std::move(*result) : FunctionsResult{};
    }
    static void expectMeasured(const FunctionsResult& result) {
        EXPECT_FALSE(result.runs.empty());
        for (std::size_t i = 0; i < result.runs.size(); i++) {
            const auto& series = result.plan.series.at(i);
            SCOPED_TRACE(fmt::format("{} {} {}", contestantKinds().at(series.contestant).name,
                                     nameOf(series.one.work), nameOf(series.one.which)));
            ASSERT_EQ(result.runs.at(i).size(), 1U);
            const auto& run = result.runs.at(i)[0];
            ASSERT_TRUE(run["not_measured"].is_null()) << run;
            EXPECT_GT(run["full"]["mpps"], 0);
            EXPECT_GE(run["full"]["loss"], 0);
            EXPECT_LE(run["full"]["loss"], 1);
        }
    }
};

TEST_F(BenchFunctions, EachWorkComesBackAsItHasToOrIsDropped) {
    auto wanted = options();
    wanted.classes = {"returned", "dropped"};
    expectMeasured(measured(wanted));
}

TEST_F(BenchFunctions, FirewallInXdpAndBalancerInUserSpaceAreOneChain) {
    auto wanted = options();
    wanted.workloads = {"chain"};
    wanted.contestants = {"hybrid"};
    wanted.shares = {0, 50, 100};
    const auto result = measured(wanted);
    expectMeasured(result);
    EXPECT_EQ(result.runs.size(), 3U);
}

TEST_F(BenchFunctions, LinuxGetsWhatIsLocal) {
    auto wanted = options();
    wanted.classes = {"local"};
    expectMeasured(measured(wanted));
}

TEST_F(BenchFunctions, RateWithoutLossIsFoundAndRemembered) {
    const auto file =
        (std::filesystem::temp_directory_path() / fmt::format("tna-functions-{}", ::getpid())).string();
    auto wanted = options();
    wanted.workloads = {"macswap"};
    wanted.classes = {"returned"};
    wanted.contestants = {"xdp"};
    wanted.rates = {"full", "rfc2544"};
    wanted.journal = file;
    const auto first = measured(wanted);
    expectMeasured(first);
    const auto& found = first.runs.at(0)[0]["rfc2544"];
    EXPECT_GE(found["mpps"], 0);
    EXPECT_GT(found["trials"], 0);
    // The same again is what was remembered.
    EXPECT_EQ(measured(wanted).runs, first.runs);
    std::filesystem::remove(file);
}

/// What has to come back of the first source's frame where addresses are swapped.
std::vector<unsigned char> firstFrameBack() {
    std::vector<unsigned char> frame{0x02, 0, 0xff, 0,  1,   2,  0x02, 0, 0xff, 0,  3,    3,
                                     8,    0,                                                   // Ethernet
                                     0x45, 0, 0,    50, 0,   0,  0,    0, 64,   17, 0xa8, 0x95, // IPv4
                                     10,   0, 0,    0,  198, 18, 2,    1,                       // from and to
                                     4,    0, 0,    9,  0,   30, 0,    0};                      // UDP
    while (frame.size() < 64)
        frame.push_back(static_cast<unsigned char>(frame.size()));
    std::uint32_t sum = 0;
    frame.at(24) = frame.at(25) = 0;
    for (std::size_t at = 14; at < 34; at += 2)
        sum += frame.at(at) * 256U + frame.at(at + 1);
    sum = ~((sum & 0xffffU) + (sum >> 16U));
    frame.at(24) = static_cast<unsigned char>(sum >> 8U);
    frame.at(25) = static_cast<unsigned char>(sum);
    return frame;
}

TEST_F(BenchFunctions, EachByteOfWhatComesBackIsCompared) {
    const FunctionsCase one;
    const auto side = FarSide::make(one);
    ASSERT_TRUE(side) << side.error().sentence();
    const auto inside = NamespaceScope::enter((*side)->place().device());
    ASSERT_TRUE(inside);
    const test::PacketPort port{(*side)->place().deviceName()};
    const auto right = firstFrameBack();
    const auto send = [&](const std::vector<unsigned char>& bytes) {
        test::Frame frame;
        frame.bytes.assign(bytes.begin(), bytes.end());
        port.send(frame);
    };
    const auto comes = [&](std::uint64_t returned, std::uint64_t wrong) {
        return test::eventually([&] { return (*side)->returned() == returned && (*side)->wrong() == wrong; });
    };
    send(right);
    ASSERT_TRUE(comes(1, 0)) << (*side)->returned() << " " << (*side)->wrong();
    for (std::size_t at = 0; at < right.size(); at++) {
        auto other = right;
        other.at(at) ^= 1U;
        send(other);
        ASSERT_TRUE(comes(1, at + 1)) << "byte " << at;
    }
}

/// A machine under test that does another work than it says.
class WrongWork : public BenchFunctions, public ::testing::WithParamInterface<std::pair<Work, Work>> {};

TEST_P(WrongWork, IsNoticedInEachFrame) {
    const auto [said, done] = GetParam();
    const auto sizeOf = [](Work work) { return work == Work::macswap ? 0U : work == Work::chain ? 0U : 1U; };
    const FunctionsCase one{said, Class::returned, sizeOf(said)};
    const FunctionsCase other{done, Class::returned, sizeOf(done)};
    const auto side = FarSide::make(one);
    ASSERT_TRUE(side) << side.error().sentence();
    const auto contestant = startXdp({**side, other, TNAD, TNA_WORKLOAD}, false);
    ASSERT_TRUE(contestant) << contestant.error().sentence();
    auto offer = (*side)->offer();
    EXPECT_TRUE(test::eventually([&] { return (*side)->wrong() > 0; }));
    EXPECT_TRUE(offer.stop());
    EXPECT_GT((*side)->wrong(), 0U);
    EXPECT_EQ((*side)->returned(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Works, WrongWork,
                         ::testing::Values(std::pair{Work::checksum, Work::macswap},
                                           std::pair{Work::macswap, Work::checksum},
                                           std::pair{Work::chain, Work::macswap},
                                           std::pair{Work::firewall, Work::macswap}));

} // namespace
} // namespace tna::bench
