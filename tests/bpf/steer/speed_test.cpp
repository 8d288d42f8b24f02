// SPDX-License-Identifier: Apache-2.0
// What steering costs: the numbers of docs/functions.md. Run it with
// --gtest_also_run_disabled_tests --gtest_filter='*Speed'.
#include "steer_fixture.hpp"

#include <algorithm>
#include <bpf/bpf.h>
#include <iostream>
#include <linux/bpf.h>
#include <span>

namespace tna::test {
namespace {

using functions::Prefix;
using functions::Rule;

/// Nanoseconds of one run, with what it costs the kernel to run it.
double timeOf(int program, const Frame& frame, unsigned ifindex) {
    xdp_md context{};
    context.data_end = static_cast<__u32>(frame.bytes.size());
    context.ingress_ifindex = ifindex;
    constexpr int runs = 20000;
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.bytes.data(),
                .data_size_in = static_cast<__u32>(frame.bytes.size()), .ctx_in = &context,
                .ctx_size_in = sizeof(context), .repeat = runs);
    EXPECT_EQ(bpf_prog_test_run_opts(program, &options), 0);
    return options.duration;
}

/// What is there without steering.
UniqueFd programThatPasses() {
    const std::array<bpf_insn, 2> code{
        {{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = XDP_PASS},
         {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}}};
    return UniqueFd{bpf_prog_load(BPF_PROG_TYPE_XDP, "passes", "GPL", code.data(), code.size(), nullptr)};
}

/// Rules for hosts and networks, and behind them one for 10.0.0.1.
std::vector<Rule> rulesOf(unsigned count, unsigned masks) {
    std::vector<Rule> rules;
    for (unsigned i = 0; i + 1 < count; i++) {
        const auto length = 32 - i % masks;
        const std::array<std::uint8_t, 16> address{11, static_cast<std::uint8_t>(i >> 15U),
                                                   static_cast<std::uint8_t>(i >> 7U),
                                                   static_cast<std::uint8_t>(i << 1U)};
        Prefix prefix{4, address, length};
        for (unsigned bit = length; bit < 32; bit++)
            prefix.bytes.at(bit / 8) &= static_cast<std::uint8_t>(~(0x80U >> bit % 8));
        rules.push_back({.priority = i, .to = prefix});
    }
    if (count != 0)
        rules.push_back({.priority = 60000, .to = Prefix{4, {10, 0, 0, 1}, 32}});
    return rules;
}

struct Case {
    const char* name;
    const char* frame;
    int program = -1;
    Frame bytes{};
    std::vector<double> times{};
};

void show(Case& one, double without) {
    std::ranges::sort(one.times);
    const auto size = one.times.size();
    const auto median = one.times.at(size / 2);
    std::cout << one.name << ", " << one.frame << ": median " << median << " ns (lowest " << one.times.front()
              << ", quartiles " << one.times.at(size / 4) << " and " << one.times.at(size * 3 / 4) << "), "
              << median - without << " more than without\n";
}

TEST_F(SteerTest, DISABLED_Speed) {
    struct Set {
        const char* name;
        unsigned rules;
        unsigned masks;
        SteeringAlone alone{};
    };
    std::array<Set, 4> sets{{{"no rules", 0, 1},
                             {"1 rule", 1, 1},
                             {"10,000 rules of one mask", 10000, 1},
                             {"9000 rules of nine masks", 9000, 9}}};
    const auto passes = programThatPasses();
    ASSERT_TRUE(passes);
    const auto found = frameOf({.to = {10, 0, 0, 1}, .toPort = 53}),
               other = frameOf({.to = {10, 0, 0, 2}, .toPort = 53});
    std::vector<Case> cases{{"without steering", "any frame", passes.get(), found}};
    for (auto& set : sets) {
        set.alone = SteeringAlone::load();
        ASSERT_NO_FATAL_FAILURE(set.alone.use(rulesOf(set.rules, set.masks)));
        cases.push_back({set.name, "frame without a rule", set.alone.program.get(), other});
        if (set.rules != 0)
            cases.push_back({set.name, "frame with a rule", set.alone.program.get(), found});
    }
    constexpr unsigned rounds = 101; // side by side, so that other work on the machine meets all of them
    for (unsigned round = 0; round < rounds; round++)
        for (auto& one : cases)
            one.times.push_back(timeOf(one.program, one.bytes, port_));
    show(cases.front(), 0);
    const auto without = cases.front().times.at(rounds / 2);
    for (auto& one : std::span(cases).subspan(1))
        show(one, without);
}

} // namespace
} // namespace tna::test
