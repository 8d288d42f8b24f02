// SPDX-License-Identifier: Apache-2.0
// What studies are made of, without a kernel: settings, probes, journals, plans, what neighbours may be.
#include "base/file.hpp"
#include "bench/delays/delays.hpp"
#include "bench/delays/yardsticks.hpp"
#include "bench/results/journal.hpp"
#include "bench/results/schedule.hpp"
#include "bench/tenants/machine.hpp"
#include "bench/tenants/offer.hpp"
#include "bench/tenants/study.hpp"
#include "bench/testbed/devices.hpp"
#include "bench/testbed/temporary_folder.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <sys/resource.h>
#include <thread>

namespace tna::bench {
namespace {

using ::testing::HasSubstr;

TEST(DelaySettings, EveryCombinationOfWhatIsThereOnce) {
    std::set<unsigned> all;
    for (const auto settings : combinations({}))
        all.insert(settings.bits);
    EXPECT_EQ(all.size(), 1U << knobs.size());
}

TEST(DelaySettings, WhatIsMissingStaysAsUsual) {
    const auto all = combinations({{Knob::zeroCopy, "no"}, {Knob::deepIdle, "no"}});
    EXPECT_EQ(all.size(), 1U << (knobs.size() - 2));
    EXPECT_THAT(all, ::testing::Contains(usualSettings()));
    for (const auto settings : all) {
        EXPECT_FALSE(settings.has(Knob::zeroCopy));
        EXPECT_TRUE(settings.has(Knob::deepIdle));
    }
}

/// What a forwarder makes of a probe.
enum class Answer { right, never, changed, unswapped, tooShort, later };

/// Answers as it is told; a late answer comes with the next probe.
class ScriptedWire : public Wire {
public:
    explicit ScriptedWire(std::vector<Answer> answers) : answers_(std::move(answers)) {}
    std::span<unsigned char> outgoing() override { return memory_; }
    Result<void> send(std::size_t length) override {
        sizes.push_back(length);
        const auto answer = answers_[std::min(sizes.size(), answers_.size()) - 1];
        std::vector<unsigned char> frame(memory_.begin(),
                                         memory_.begin() + static_cast<std::ptrdiff_t>(length));
        if (answer != Answer::unswapped)
            std::swap_ranges(frame.begin(), frame.begin() + 6, frame.begin() + 6);
        if (answer == Answer::changed)
            frame.back() ^= 1U;
        if (answer == Answer::tooShort)
            frame.pop_back();
        if (answer == Answer::later)
            late_ = frame;
        else if (answer != Answer::never)
            ready_.push_back(frame);
        if (answer == Answer::right && !late_.empty())
            ready_.push_back(std::exchange(late_, {}));
        return {};
    }
    std::optional<std::span<unsigned char>> receive() override {
        return ready_.empty() ? std::nullopt : std::optional{std::span{ready_.front()}};
    }
    void release() override { ready_.erase(ready_.begin()); }
    void wait(std::chrono::nanoseconds patience) override {
        waits.push_back(patience);
        std::this_thread::sleep_for(
            std::min(patience, std::chrono::nanoseconds(std::chrono::milliseconds(1))));
    }
    std::vector<std::size_t> sizes;
    std::vector<std::chrono::nanoseconds> waits;

private:
    std::vector<Answer> answers_;
    std::array<unsigned char, 2048> memory_{};
    std::vector<std::vector<unsigned char>> ready_;
    std::vector<unsigned char> late_;
};

constexpr Ends ends{{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};
const auto forever = [] { return false; };

TEST(Prober, CountsEveryProbeAndEveryAnswer) {
    const auto wire = makeLoopWire();
    const auto delays = probe(*wire, ends, {.interval = 0, .seconds = 0.01}, forever);
    ASSERT_TRUE(delays);
    EXPECT_GT(delays->sent, 0U);
    EXPECT_EQ(delays->nanoseconds.size(), delays->sent);
    EXPECT_EQ(delays->lost(), 0U);
    EXPECT_EQ(delays->wrong, 0U);
}

TEST(Prober, SendsProbesOf64BytesAndNoMoreThanTheIntervalAllows) {
    ScriptedWire wire{{Answer::right}};
    const auto delays = probe(wire, ends, {.interval = 0.01, .seconds = 0.05}, forever);
    ASSERT_TRUE(delays);
    EXPECT_LE(delays->sent, 5U);
    EXPECT_THAT(wire.sizes, ::testing::Each(64U));
}

TEST(Prober, AnswersThatDifferInAnythingAreNoAnswers) {
    for (const Answer answer : {Answer::changed, Answer::unswapped, Answer::tooShort}) {
        ScriptedWire wire{{Answer::right, answer, Answer::right}};
        const auto delays = probe(wire, ends, {.interval = 0.002, .seconds = 0.02}, forever);
        ASSERT_TRUE(delays);
        EXPECT_EQ(delays->wrong, 1U);
        EXPECT_EQ(delays->nanoseconds.size(), delays->sent - 1);
        EXPECT_EQ(delays->lost(), 0U);
    }
}

TEST(Prober, WhatNeverComesIsLost) {
    ScriptedWire wire{{Answer::right, Answer::never, Answer::right}};
    const auto delays = probe(wire, ends, {.interval = 0.002, .seconds = 0.02}, forever);
    ASSERT_TRUE(delays);
    EXPECT_EQ(delays->lost(), 1U);
}

TEST(Prober, WhatComesWithTheNextProbeIsLateByAnInterval) {
    constexpr double interval = 0.005;
    ScriptedWire wire{{Answer::later, Answer::right}};
    const auto delays = probe(wire, ends, {.interval = interval, .seconds = 0.03}, forever);
    ASSERT_TRUE(delays);
    EXPECT_EQ(delays->lost(), 0U);
    EXPECT_GE(*std::ranges::max_element(delays->nanoseconds), 1e9 * interval);
}

TEST(Prober, EndsWhenItIsToldTo) {
    ScriptedWire wire{{Answer::never}};
    unsigned asked = 0;
    const auto delays = probe(wire, ends, {.interval = 0, .seconds = 3600}, [&] { return ++asked > 3; });
    ASSERT_TRUE(delays);
    EXPECT_EQ(delays->sent, 1U);
}

TEST(Prober, WaitsForTheFirstAnswerOfACardThatHasNoLinkYet) {
    ScriptedWire late{{Answer::never, Answer::never, Answer::never, Answer::never, Answer::never,
                       Answer::never, Answer::never, Answer::right}};
    EXPECT_EQ(awaitAnswer(late, ends, std::chrono::seconds(20), forever).value_or(false), true);
    EXPECT_GE(late.sizes.size(), 8U);
    ScriptedWire never{{Answer::never}};
    EXPECT_EQ(awaitAnswer(never, ends, std::chrono::milliseconds(1), forever).value_or(true), false);
    ScriptedWire changed{{Answer::changed}};
    EXPECT_EQ(awaitAnswer(changed, ends, std::chrono::milliseconds(1), forever).value_or(true), false);
}

TEST(Delays, AreToldByTheirMomentsAndQuantiles) {
    Delays delays;
    for (std::uint32_t i = 101; i-- > 0;)
        delays.nanoseconds.push_back(10 * i);
    delays.sent = 103;
    delays.wrong = 1;
    const auto told = delaysDocument(delays);
    EXPECT_EQ(told["lost"], 1U);
    EXPECT_DOUBLE_EQ(told["mean_ns"], 500);
    EXPECT_DOUBLE_EQ(told["median_ns"], 500);
    EXPECT_DOUBLE_EQ(told["q1_ns"], 250);
    EXPECT_DOUBLE_EQ(told["q3_ns"], 750);
    EXPECT_EQ(told["min_ns"], 0U);
    EXPECT_EQ(told["max_ns"], 1000U);
    EXPECT_NEAR(told["sd_ns"].get<double>(), 10 * std::sqrt((101.0 * 101 - 1) / 12), 1e-6);
    ASSERT_EQ(told["quantiles_ns"].size(), 101U);
    EXPECT_DOUBLE_EQ(told["quantiles_ns"][37], 370);
    EXPECT_TRUE(delaysDocument({})["mean_ns"].is_null());
}

TEST(Delays, OfPingAreReadFromItsWords) {
    EXPECT_THAT(pingTimes("PING 198.18.0.2 (198.18.0.2) 22(50) bytes of data.\n"
                          "30 bytes from 198.18.0.2: icmp_seq=1 ttl=64 time=0.052 ms\n"
                          "30 bytes from 198.18.0.2: icmp_seq=2 ttl=64 time=1.5 ms\n"
                          "From 198.18.0.1 icmp_seq=3 Destination Host Unreachable\n"
                          "rtt min/avg/max/mdev = 0.052/0.776/1.500/0.724 ms\n"),
                ::testing::ElementsAre(52'000U, 1'500'000U));
}

TEST(DelaysPlan, HasEveryRunOnceInEachRoundInAnOrderThatIsTheSameEachTime) {
    DelaysOptions options;
    options.intervals = {0.01, 0};
    options.rounds = 3;
    const auto plan = planDelays(options, {{Knob::zeroCopy, "no"}});
    const auto series = (1U << (knobs.size() - 1)) + 1 + yardsticks.size();
    EXPECT_EQ(plan.runs.size(), 3 * 2 * series);
    std::set<std::string> keys;
    for (const auto& run : plan.runs)
        keys.insert(run.key);
    EXPECT_EQ(keys.size(), plan.runs.size());
    const auto again = planDelays(options, {{Knob::zeroCopy, "no"}});
    for (std::size_t i = 0; i < plan.runs.size(); i++)
        EXPECT_EQ(plan.runs[i].key, again.runs[i].key);
    EXPECT_NE(plan.runs[0].key.substr(1), plan.runs[2 * series].key.substr(1))
        << "rounds differ in their order";
    EXPECT_THAT(describe(plan, options), HasSubstr("missing: zero-copy: no\n"));
}

class JournalFile : public ::testing::Test {
protected:
    void SetUp() override {
        auto folder = TemporaryFolder::make();
        ASSERT_TRUE(folder);
        folder_.emplace(std::move(*folder));
        file_ = folder_->path() + "/journal";
    }
    std::optional<TemporaryFolder> folder_;
    std::string file_;
    nlohmann::json plan_{{"seconds", 1}};
};

TEST_F(JournalFile, RemembersWhatWasFoundWhenItIsOpenedAgain) {
    {
        auto journal = Journal::open(file_, plan_);
        ASSERT_TRUE(journal);
        EXPECT_EQ(journal->find("a"), nullptr);
        ASSERT_TRUE(journal->add("a", 1));
        ASSERT_TRUE(journal->add("b", {{"x", 2.5}}));
    }
    const auto journal = Journal::open(file_, plan_);
    ASSERT_TRUE(journal);
    EXPECT_EQ(journal->size(), 2U);
    EXPECT_EQ(*journal->find("b"), (nlohmann::json{{"x", 2.5}}));
}

TEST_F(JournalFile, ALineThatWasNotWrittenToItsEndIsMeasuredAgain) {
    {
        auto journal = Journal::open(file_, plan_);
        ASSERT_TRUE(journal && journal->add("a", 1) && journal->add("b", 2));
    }
    const auto text = *readFile(file_);
    std::filesystem::resize_file(file_, text.size() - 4);
    auto journal = Journal::open(file_, plan_);
    ASSERT_TRUE(journal);
    EXPECT_NE(journal->find("a"), nullptr);
    EXPECT_EQ(journal->find("b"), nullptr);
    ASSERT_TRUE(journal->add("b", 3));
    EXPECT_EQ(Journal::open(file_, plan_)->size(), 2U);
}

TEST_F(JournalFile, OfAnotherPlanIsRefusedAndLeftAlone) {
    {
        auto journal = Journal::open(file_, plan_);
        ASSERT_TRUE(journal && journal->add("a", 1));
    }
    const auto before = *readFile(file_);
    const auto other = Journal::open(file_, {{"seconds", 2}});
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, ExitCode::usage);
    EXPECT_EQ(*readFile(file_), before);
    ASSERT_TRUE(writeFile(file_, "any text\n"));
    EXPECT_FALSE(Journal::open(file_, plan_));
}

TEST_F(JournalFile, StaysWholeWhereItCannotBeWrittenAnew) {
    {
        auto journal = Journal::open(file_, plan_);
        ASSERT_TRUE(journal && journal->add("a", std::string(1000, 'x')));
    }
    const auto before = *readFile(file_);
    rlimit usual{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{100, usual.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto journal = Journal::open(file_, plan_);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &usual), 0);
    std::signal(SIGXFSZ, handler);
    EXPECT_FALSE(journal);
    EXPECT_EQ(*readFile(file_), before);
    EXPECT_FALSE(std::filesystem::exists(file_ + ".new"));
}

TEST(Schedule, TellsTimeInWords) {
    EXPECT_EQ(durationText(0.4), "1 s");
    EXPECT_EQ(durationText(90), "90 s");
    EXPECT_EQ(durationText(300), "5 min");
    EXPECT_EQ(durationText(7800), "2 h 10 min");
}

TEST(TenantsPlan, MeasuresEachCaseBesideEachSetOfNeighboursAndWithoutAnyTwice) {
    TenantsOptions options;
    options.subjects = {"xdp", "linux", "bridge-tna"};
    options.tenants = {0, 2};
    options.burdens = {"network"};
    const auto plan = planTenants(options, {});
    // Linux computes the checksum once, whoever asks.
    EXPECT_THAT(plan.cases,
                ::testing::UnorderedElementsAre(
                    TenantsCase{"xdp", 64, 1}, TenantsCase{"xdp", 64, 10}, TenantsCase{"xdp", 1500, 1},
                    TenantsCase{"xdp", 1500, 10}, TenantsCase{"linux", 64, 1}, TenantsCase{"linux", 1500, 1},
                    TenantsCase{"bridge-tna", 64, 0}, TenantsCase{"bridge-tna", 1500, 0}));
    ASSERT_EQ(plan.neighbours.size(), 3U);
    EXPECT_EQ(plan.neighbours[0].count, 0U);
    EXPECT_EQ(plan.neighbours[1].count, 0U);
    EXPECT_NEAR(plan.seconds(), 3 * 8 * 3 * 1.25, 1);
    const MissingTenants missing{{Burden::network, "'ping' is not installed"}};
    const auto without = planTenants(options, missing);
    EXPECT_EQ(without.neighbours.size(), 2U);
    EXPECT_THAT(describe(without, options, missing),
                HasSubstr("missing: tenants that load network: 'ping' is not installed\n"));
}

TEST(DelaySettings, AreTheSameAfterTheyWereWords) {
    for (const auto settings : combinations({}))
        EXPECT_EQ(settingsOf(wordOf(settings)), settings);
    EXPECT_EQ(wordOf({}), "none");
    EXPECT_FALSE(settingsOf("busy_poll,need_wakeu"));
}

TEST(Machine, ArchiveIsWhatTheKernelTakes) {
    const auto archive = archiveOf({{"init", "abcde"}});
    // As `cpio -o -H newc` has it, but for numbers that do not matter here.
    EXPECT_EQ(archive.substr(0, 110),
              "07070100000001000081ed000000000000000000000001000000000000000500000000000000000000"
              "0000000000000000000500000000");
    EXPECT_EQ(archive.substr(110, 6), std::string("init\0\0", 6));
    EXPECT_EQ(archive.substr(116, 8), std::string("abcde\0\0\0", 8));
    EXPECT_EQ(archive.substr(124 + 110, 11), std::string("TRAILER!!!\0", 11));
    EXPECT_EQ(archive.size() % 4, 0U);
}

TEST(Devices, HardwareAddressesAreReadFromWords) {
    EXPECT_EQ(macIn("52:54:00:0a:FF:02"), (std::array<unsigned char, 6>{0x52, 0x54, 0, 0x0a, 0xff, 2}));
    for (const char* none : {"", "eth0", "52:54:00:0a:ff", "52:54:00:0a:ff:02:03", "52:54:00:0a:ff:02 "})
        EXPECT_FALSE(macIn(none)) << none;
}

TEST(Offer, FramesAreWholeButForTheChecksum) {
    for (const unsigned size : {64U, 1500U}) {
        const auto frame = wrongFrame(size, {2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2});
        ASSERT_EQ(frame.size(), size);
        EXPECT_EQ(frame[16] * 256U + frame[17], size - 14);
        std::uint32_t sum = 0;
        for (unsigned i = 14; i < 34; i += 2)
            sum += frame[i] * 256U + frame[i + 1];
        while (sum > 0xffff)
            sum = (sum & 0xffffU) + (sum >> 16U);
        EXPECT_NE(sum, 0xffffU);
    }
}

} // namespace
} // namespace tna::bench
