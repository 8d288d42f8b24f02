// SPDX-License-Identifier: Apache-2.0
// Queueing disciplines of the port that a frame leaves by: each kind, its settings, its filters, and those of
// queues.
#include "condition.hpp"

namespace tna::test {
namespace {

const std::string atTheRoot = "tc qdisc add dev p1 root ";

Condition queue(const char* name, const std::string& discipline, const std::string& reason) {
    return {name,
            {atTheRoot + discipline + " && tc qdisc del dev p1 root"},
            {atTheRoot + discipline},
            reason,
            {"tc qdisc del dev p1 root"}};
}
Condition plain(const char* name, const std::string& discipline) {
    return queue(name, discipline, "");
}
Condition other(const char* name, const std::string& discipline) {
    return queue(name, discipline, "egress-qdisc");
}
/// The filter goes with the discipline: one that had a filter is never passed by Linux again, either.
Condition filtered(const char* name, const std::string& discipline, const std::string& filter) {
    auto condition = other(name, "handle 1: " + discipline);
    const auto add = "tc filter add dev p1 parent 1: protocol all " + filter;
    condition.prepare = {condition.set[0] + " && " + add + " && tc qdisc del dev p1 root"};
    condition.set.push_back(add);
    return condition;
}

INSTANTIATE_TEST_SUITE_P(
    QueueingDiscipline, ConditionTest,
    ::testing::Values(other("TokenBucket", "tbf rate 1gbit burst 1m latency 50ms"),
                      other("HierarchicalTokenBucket", "handle 1: htb default 1"),
                      other("Priorities", "handle 1: prio"), other("Fifo", "pfifo limit 10"),
                      other("NetworkEmulator", "netem delay 1us"), other("StochasticFairness", "sfq"),
                      plain("PfifoFast", "pfifo_fast"), plain("None", "noqueue"),
                      Condition{"OnTheIngressPort",
                                {},
                                {"tc qdisc add dev p0 root tbf rate 1gbit burst 1m latency 50ms"},
                                "",
                                {"tc qdisc del dev p0 root"}}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    FqCodel, ConditionTest,
    ::testing::Values(plain("Default", "fq_codel"),
                      plain("WithOtherTimes", "fq_codel target 1ms interval 9ms noecn"),
                      plain("WithFewerFlows", "fq_codel flows 16 quantum 300"),
                      plain("ThatLetsMoreWait", "fq_codel limit 20000"),
                      other("ThatLetsFewWait", "fq_codel limit 10239"),
                      filtered("WithAFilterThatDrops", "fq_codel", "u32 match u32 0 0 action drop"),
                      filtered("WithAFilterThatClassifies", "fq_codel", "u32 match u32 0 0 flowid 1:1")),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Fq, ConditionTest,
    ::testing::Values(plain("Default", "fq"), plain("WithoutPacing", "fq nopacing"),
                      plain("ThatLetsMoreWait", "fq limit 20000 flow_limit 200"),
                      other("ThatLetsNoneWait", "fq limit 0"), other("ThatLetsFewWait", "fq limit 9999"),
                      other("ThatLetsFewOfAFlowWait", "fq flow_limit 99"),
                      other("ThatShapes", "fq maxrate 8kbit"), other("ThatMarks", "fq ce_threshold 10ms"),
                      other("ThatCountsOtherSizes", "stab overhead 4 linklayer ethernet fq")),
    nameOf);

/// Each transmit queue of a device may have a discipline of its own.
class Multiqueue : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (IsSkipped())
            return;
        farPorts_.erase(1);
        must("ip link del p1");
        must("ip link add p1 numtxqueues 4 numrxqueues 4 type veth peer name far1 numtxqueues 4 "
             "numrxqueues 4 netns " +
             farSide_->name());
        inFar("ip link set far1 up");
        inFar("ethtool -K far1 gro on");
        must("ip link set p1 master br0 up");
        {
            const auto inside = farSide_->enter();
            farPorts_[1].emplace("far1");
        }
        opens(1, {0, 2});
        opens(0, {1, 2});
        learn();
    }
    static Treatment usual() { return {fastPath(), {{1, {oneToTwo()}}}}; }
    /// Whether this kernel has it: otherwise it is set nowhere.
    static bool set(const std::string& arguments) {
        return command({"sh", "-c", "tc qdisc replace dev p1 " + arguments}).exitCode == 0;
    }
    /// The frame goes where Linux sends it, by Linux, with what `arguments` sets at a queue; and the fast way
    /// again with another discipline there.
    void expectLinux(const std::string& queue, const std::string& arguments, const std::string& filter = "") {
        const auto parent = "parent 1:" + queue + " handle 1" + queue + ": ";
        if (!set(parent + arguments))
            return;
        if (!filter.empty())
            must("tc filter add dev p1 parent 1" + queue + ": protocol all " + filter);
        EXPECT_EQ(treat(oneToTwo()).path, slowPath("egress-qdisc")) << queue << ' ' << arguments;
        must("tc qdisc replace dev p1 parent 1:" + queue + " pfifo_fast");
        EXPECT_EQ(treat(oneToTwo()), usual()) << queue << ' ' << arguments;
    }
};

TEST_F(Multiqueue, EveryQueueCounts) {
    if (!set("root handle 1: mq"))
        GTEST_SKIP() << "this kernel has no mq";
    ASSERT_NO_FATAL_FAILURE(accelerate());
    if (IsSkipped())
        return;
    ASSERT_EQ(treat(oneToTwo()), usual());
    for (const std::string queue : {"1", "2", "3", "4"}) {
        expectLinux(queue, "tbf rate 1gbit burst 1m latency 50ms");
        expectLinux(queue, "fq maxrate 1mbit");
        expectLinux(queue, "fq_codel limit 100");
        expectLinux(queue, "fq_codel", "u32 match u32 0 0 action drop");
        for (const std::string kind : {"fq", "fq_codel", "noqueue"})
            if (set("parent 1:" + queue + ' ' + kind)) {
                EXPECT_EQ(treat(oneToTwo()), usual()) << queue << ' ' << kind;
            }
    }
}

/// mqprio gives each queue a plain child, and chooses the queue by the frame's priority; multiq by filters.
class MultiqueueRoot : public Multiqueue, public ::testing::WithParamInterface<const char*> {};

TEST_P(MultiqueueRoot, ThatClassifiesIsLinuxs) {
    const std::string root = std::string("root handle 1: ") + GetParam();
    if (!set(root))
        GTEST_SKIP() << "this kernel does not have " << GetParam();
    must("tc qdisc del dev p1 root");
    ASSERT_NO_FATAL_FAILURE(accelerate());
    if (IsSkipped())
        return;
    ASSERT_EQ(treat(oneToTwo()), usual());
    ASSERT_TRUE(set(root));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("egress-qdisc"), usual().out}));
}

INSTANTIATE_TEST_SUITE_P(QueueingDiscipline, MultiqueueRoot,
                         ::testing::Values("mqprio num_tc 2 map 0 1 0 1 queues 2@0 2@2 hw 0", "multiq"));

} // namespace
} // namespace tna::test
